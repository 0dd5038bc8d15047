#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>

namespace heddle::detail {

/// 1/|d_i| for the diagonal d of A, in the context's memory. A d_i that is zero, subnormal or not
/// finite is replaced by the mean of the other |d_i| (1 if there is none), so that the result is
/// positive for every A. The mean is that of all processes of the context if A is distributed over
/// them, which then call this together. Throws `InvalidArgument` if A is not square.
template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_diagonal(Ctx& context,
                                                DistributedCsrView<T, typename Ctx::Space> A);

/// 1/√|d_i|, with the same replacements.
template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> inverse_root_diagonal(Ctx& context,
                                                     DistributedCsrView<T, typename Ctx::Space> A);

}  // namespace heddle::detail
