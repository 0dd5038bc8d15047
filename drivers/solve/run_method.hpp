#pragma once

#include <heddle/drivers/place/placed.hpp>
#include <heddle/drivers/problem/solution.hpp>

namespace heddle::detail {

/// The result of a method: a solution without vectors, and the vectors in the memory of the
/// context.
template <Scalar T, class Space>
struct Solved {
  Solution solution;
  MultiVector<T, Space> vectors;
  MultiVector<T, Space> left_vectors{};  ///< of singular triplets
};

/// Carries out the method of this algorithm, which was chosen for `request`.
template <Scalar T, class Ctx>
Solved<T, typename Ctx::Space> run_method(Algorithm algorithm, Ctx& context,
                                          PlacedProblem<T, Ctx>& problem, const Request& request,
                                          const Monitor& monitor);

}  // namespace heddle::detail
