#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// R = A X − B X diag(θ), the sums in twice the precision of double and rounded at the end, so that
/// R has about the precision of double where the terms cancel. B: null for I. X and R n×b, θ of b
/// numbers in order. Source: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955.
void accurate_residual(HostContext& context, const CsrView<double, HostSpace>& A,
                       const CsrView<double, HostSpace>* B, ConstBlockView<double, HostSpace> X,
                       const double* theta, BlockView<double, HostSpace> R);

}  // namespace heddle::detail
