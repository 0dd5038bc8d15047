#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// R = A X − B X diag(θ), the sums in twice the precision of double and rounded to T at the end, so
/// that R has about the precision of T where the terms cancel. B: null for I. X and R n×b, θ of b
/// numbers in order. Source: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955.
template <Scalar T>
void accurate_residual(HostContext& context, const CsrView<T, HostSpace>& A,
                       const CsrView<T, HostSpace>* B, ConstBlockView<T, HostSpace> X,
                       const double* theta, BlockView<T, HostSpace> R);

}  // namespace heddle::detail
