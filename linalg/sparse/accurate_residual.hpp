#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/views.hpp>
#include <span>

namespace heddle {

/// R = A X − B X diag(theta), summed in twice the working precision and rounded once: the error of
/// an entry r is at most ε|r| and m² ε² times the sum of the absolute values of its m terms. A n×n,
/// X and R n×b in the memory of the context, theta of b numbers in host memory. `B` n×n, the
/// identity if it is null. Processes may share the rows of A, B, X and R. All of them then call
/// this together. A GPU gives the bits of the host. Throws `InvalidArgument` if
/// the shapes do not fit.
/// Source: Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005) 1955, algorithm 5.3.
template <Scalar T>
void accurate_residual(HostContext& context, DistributedCsrView<T, HostSpace> A,
                       const DistributedCsrView<T, HostSpace>* B, ConstBlockView<T, HostSpace> X,
                       std::span<const double> theta, BlockView<T, HostSpace> R);
template <Scalar T>
void accurate_residual(CudaContext& context, DistributedCsrView<T, DeviceSpace> A,
                       const DistributedCsrView<T, DeviceSpace>* B,
                       ConstBlockView<T, DeviceSpace> X, std::span<const double> theta,
                       BlockView<T, DeviceSpace> R);

}  // namespace heddle
