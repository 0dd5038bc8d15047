#pragma once

#include <heddle/linalg/csr_matrix.hpp>

namespace heddle {

/// An upper bound on λ_max(A), A symmetric on the host, from some Lanczos steps with a random
/// start: the largest Ritz value plus the norm of the last residual. Not proven, safe in practice.
/// Infinite if A holds numbers that are not finite. Source: Zhou & Li, SIAM J. Matrix Anal. Appl.
/// 32 (2011) 480.
template <Scalar T>
double lanczos_bound(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
