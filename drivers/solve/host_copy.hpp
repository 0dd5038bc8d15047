#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/drivers/problem/solution.hpp>

namespace heddle::detail {

/// `problem`, whose matrices are stored, in host memory and in double precision. Matrices in double
/// that lie there already are not copied.
template <Scalar T, class Ctx>
HostProblem<Wide<T>> on_host(Ctx& context, Device& device, const ResidentProblem<T, Ctx>& problem);

/// Moves vectors in the precision T to the memory of the context.
template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> take_block(Ctx& context, HostVectors& from);

}  // namespace heddle::detail
