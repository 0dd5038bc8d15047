#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <utility>

/// Operations on sparse matrices in a context's memory, with overloads for the host and the GPU.
/// Results have the same bits in every run and for every number of threads.
///
/// Of a `DistributedCsrView`, results concern the whole matrix, and all processes of the context
/// call an operation together. Exceptions: `norm_1` returns ‖A‖∞, which is ‖A‖₁ of a symmetric A,
/// and `squared_row_norms` and `is_diagonal` concern the rows of this process.
namespace heddle {

/// ‖A‖₁, the largest absolute column sum; ‖A‖∞ of a distributed A. NaN or Inf if A contains one.
template <Scalar T>
double norm_1(HostContext& context, CsrView<T, HostSpace> A);
template <Scalar T>
double norm_1(HostContext& context, DistributedCsrView<T, HostSpace> A);

/// sums(i, 0) = Σ_j |A(i, j)| (sums A.rows×1), summed in double. With `terms` > 0, the sum of a row
/// of m > terms entries counts m/terms times. Throws `InvalidArgument` if the sizes do not fit.
template <Scalar T>
void absolute_row_sums(HostContext& context, DistributedCsrView<T, HostSpace> A,
                       BlockView<T, HostSpace> sums, Index terms = 0);
template <Scalar T>
void absolute_row_sums(HostContext& context, CsrView<T, HostSpace> A, BlockView<T, HostSpace> sums,
                       Index terms = 0) {
  absolute_row_sums<T>(context, DistributedCsrView<T, HostSpace>(A), sums, terms);
}

/// d_i = A(i, i), 0 where it is not stored. Throws `InvalidArgument` if A is not square.
template <Scalar T>
Buffer<T, HostSpace> extract_diagonal(HostContext& context, CsrView<T, HostSpace> A);

/// diag(A Aᵀ), as a matrix: the squares of the norms of the rows of A, summed in double.
template <Scalar T>
DistributedCsr<T, HostSpace> squared_row_norms(HostContext& context,
                                               DistributedCsrView<T, HostSpace> A);
template <Scalar T>
HostCsrMatrix<T> squared_row_norms(HostContext& context, CsrView<T, HostSpace> A) {
  return std::move(squared_row_norms<T>(context, DistributedCsrView<T, HostSpace>(A)).own());
}

/// sums(i, 0) = Σ_j |A(i, j)|² weights(j, 0) (weights A.cols×1, sums A.rows×1), summed in double.
/// Throws `InvalidArgument` if the sizes do not fit.
template <RealScalar T>
void weighted_row_squares(HostContext& context, CsrView<T, HostSpace> A,
                          ConstBlockView<T, HostSpace> weights, BlockView<T, HostSpace> sums);

/// A copy of A in which every diagonal entry is stored. Throws `InvalidArgument` if A is not
/// square.
template <Scalar T>
HostCsrMatrix<T> with_stored_diagonal(HostContext& context, CsrView<T, HostSpace> A);
template <Scalar T>
DistributedCsr<T, HostSpace> with_stored_diagonal(HostContext& context,
                                                  DistributedCsrView<T, HostSpace> A);

/// A with its values rounded to U, as `convert` of csr_algorithms.hpp.
template <Scalar U, Scalar T>
DistributedCsr<U, HostSpace> convert(HostContext& context, DistributedCsrView<T, HostSpace> A);

/// Whether every off-diagonal entry in the rows of this process is zero, and none is stored in
/// columns of other processes.
template <Scalar T>
bool is_diagonal(DistributedCsrView<T, HostSpace> A);

/// A ← D A D with D = diag(d), d of length n. Throws `InvalidArgument` if the sizes do not fit.
template <Scalar T>
void scale_symmetrically(HostContext& context, const Buffer<T, HostSpace>& d, HostCsrMatrix<T>& A);
template <Scalar T>
void scale_symmetrically(HostContext& context, const Buffer<T, HostSpace>& d,
                         DistributedCsr<T, HostSpace>& A);

/// A ← A + shift·I. Only stored diagonal entries change, so A should store its whole diagonal.
/// Throws `InvalidArgument` if A is not square.
template <Scalar T>
void shift_diagonal(HostContext& context, double shift, HostCsrMatrix<T>& A);

// The same operations in device memory.

/// Entries are rounded to integer multiples of a power of two, whose sums do not depend on their
/// order. The result differs from the exact norm by at most c²·2⁻⁶¹·max|A| for columns of c
/// entries.
template <Scalar T>
double norm_1(CudaContext& context, CsrView<T, DeviceSpace> A);
template <Scalar T>
double norm_1(CudaContext& context, DistributedCsrView<T, DeviceSpace> A);

template <Scalar T>
void absolute_row_sums(CudaContext& context, DistributedCsrView<T, DeviceSpace> A,
                       BlockView<T, DeviceSpace> sums, Index terms = 0);
template <Scalar T>
void absolute_row_sums(CudaContext& context, CsrView<T, DeviceSpace> A,
                       BlockView<T, DeviceSpace> sums, Index terms = 0) {
  absolute_row_sums<T>(context, DistributedCsrView<T, DeviceSpace>(A), sums, terms);
}

template <Scalar T>
Buffer<T, DeviceSpace> extract_diagonal(CudaContext& context, CsrView<T, DeviceSpace> A);

template <Scalar T>
CsrMatrix<T, DeviceSpace> squared_row_norms(CudaContext& context, CsrView<T, DeviceSpace> A);

template <RealScalar T>
void weighted_row_squares(CudaContext& context, CsrView<T, DeviceSpace> A,
                          ConstBlockView<T, DeviceSpace> weights, BlockView<T, DeviceSpace> sums);

/// Copies A through the host where A does not store its whole diagonal.
template <Scalar T>
CsrMatrix<T, DeviceSpace> with_stored_diagonal(CudaContext& context, CsrView<T, DeviceSpace> A);
template <Scalar T>
DistributedCsr<T, DeviceSpace> with_stored_diagonal(CudaContext& context,
                                                    DistributedCsrView<T, DeviceSpace> A);

/// A with its values rounded to U, as `convert` of csr_algorithms.hpp.
template <Scalar U, Scalar T>
CsrMatrix<U, DeviceSpace> convert(CudaContext& context, CsrView<T, DeviceSpace> A);
template <Scalar U, Scalar T>
DistributedCsr<U, DeviceSpace> convert(CudaContext& context, DistributedCsrView<T, DeviceSpace> A);

/// Aᵀ with ascending columns in each row, as `transpose` of csr_algorithms.hpp. The sort of
/// the entries takes 16 bytes per entry, before Aᵀ is allocated.
template <Scalar T>
CsrMatrix<T, DeviceSpace> transpose(CudaContext& context, CsrView<T, DeviceSpace> A);

/// Aᴴ, as `adjoint` of csr_algorithms.hpp. Otherwise as `transpose`.
template <Scalar T>
CsrMatrix<T, DeviceSpace> adjoint(CudaContext& context, CsrView<T, DeviceSpace> A);

template <Scalar T>
void scale_symmetrically(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                         CsrMatrix<T, DeviceSpace>& A);
template <Scalar T>
void scale_symmetrically(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                         DistributedCsr<T, DeviceSpace>& A);

template <Scalar T>
void shift_diagonal(CudaContext& context, double shift, CsrMatrix<T, DeviceSpace>& A);

}  // namespace heddle
