#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <span>

namespace heddle {

/// R = A X − B X diag(theta), summed in twice the working precision and rounded once: the error of
/// an entry r is at most ε|r| and m² ε² times the sum of the absolute values of its m terms. A n×n,
/// X and R n×b in host memory, theta of b numbers. `B` n×n, the identity if it is null. Throws
/// `InvalidArgument` if the shapes do not fit.
/// Source: Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005) 1955, algorithm 5.3.
template <Scalar T>
void accurate_residual(HostContext& context, CsrView<T, HostSpace> A,
                       const CsrView<T, HostSpace>* B, ConstBlockView<T, HostSpace> X,
                       std::span<const double> theta, BlockView<T, HostSpace> R);

}  // namespace heddle
