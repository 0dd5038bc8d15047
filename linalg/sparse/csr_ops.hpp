#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

/// Operations on sparse matrices where they lie, each once for each matrix: on the GPU the matrix
/// stays there. Results have the same bits on every run and for every number of threads.
namespace heddle {

/// Largest absolute column sum, ‖A‖₁; NaN or Inf where A holds one.
template <Scalar T>
double norm_1(HostContext& context, CsrView<T, HostSpace> A);

/// d_i = A(i, i), 0 where not stored. Throws `InvalidArgument` if A is not square.
template <Scalar T>
Buffer<T, HostSpace> extract_diagonal(HostContext& context, CsrView<T, HostSpace> A);

/// A copy of A in which every diagonal entry is stored. Throws `InvalidArgument` if A is not
/// square.
template <Scalar T>
HostCsrMatrix<T> with_stored_diagonal(HostContext& context, CsrView<T, HostSpace> A);

/// A ← D A D with D = diag(d), d of length n. Throws `InvalidArgument` if the sizes do not fit.
template <Scalar T>
void scale_symmetrically(HostContext& context, const Buffer<T, HostSpace>& d, HostCsrMatrix<T>& A);

/// A ← A + shift·I, for an A that stores its diagonal: entries that it does not store stay 0.
/// Throws `InvalidArgument` if A is not square.
template <Scalar T>
void shift_diagonal(HostContext& context, double shift, HostCsrMatrix<T>& A);

// The same on the GPU.

/// Entries are rounded to whole multiples of a power of two, whose sums do not depend on their
/// order: the result differs from the exact one by c²·2⁻⁶¹·max|A| at most for columns of c entries.
template <Scalar T>
double norm_1(CudaContext& context, CsrView<T, DeviceSpace> A);

template <Scalar T>
Buffer<T, DeviceSpace> extract_diagonal(CudaContext& context, CsrView<T, DeviceSpace> A);

/// By way of the host where A does not store all of its diagonal.
template <Scalar T>
CsrMatrix<T, DeviceSpace> with_stored_diagonal(CudaContext& context, CsrView<T, DeviceSpace> A);

template <Scalar T>
void scale_symmetrically(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                         CsrMatrix<T, DeviceSpace>& A);

template <Scalar T>
void shift_diagonal(CudaContext& context, double shift, CsrMatrix<T, DeviceSpace>& A);

}  // namespace heddle
