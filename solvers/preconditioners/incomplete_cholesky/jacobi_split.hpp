#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// L = D + N for a lower triangular L, D its diagonal.
template <Scalar T, class Space>
struct JacobiSplit {
  Buffer<T, Space> inverse_diagonal;  ///< of D⁻¹
  CsrMatrix<T, Space> N;
};

/// The split of L, whose rows each end with the diagonal entry.
template <Scalar T>
JacobiSplit<T, HostSpace> jacobi_split(HostContext& context, CsrView<T, HostSpace> L);
template <Scalar T>
JacobiSplit<T, DeviceSpace> jacobi_split(CudaContext& context, CsrView<T, DeviceSpace> L);

/// diag(d) N.
template <Scalar T>
HostCsrMatrix<T> scale_rows_of(HostContext& context, const Buffer<T, HostSpace>& d,
                               HostCsrMatrix<T> N);
template <Scalar T>
CsrMatrix<T, DeviceSpace> scale_rows_of(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                                        CsrMatrix<T, DeviceSpace> N);

}  // namespace heddle::detail
