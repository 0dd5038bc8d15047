#pragma once

#include <heddle/linalg/csr_matrix.hpp>

namespace heddle {

/// 1/|d_i| for the diagonal d of A, on the host. A d_i that is zero, subnormal or not finite counts
/// as the mean of the other |d_i| (1 if there is none), so that the result is positive for every A.
/// Throws `InvalidArgument` if A is not square.
template <Scalar T>
Buffer<T, HostSpace> inverse_diagonal(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
