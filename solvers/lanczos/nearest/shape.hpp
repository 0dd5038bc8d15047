#pragma once

#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>

namespace heddle::detail {

/// The sizes of all memory of a solve for the pairs nearest to σ.
struct NearestShape {
  Index n = 0;
  Index block = 0;      ///< b, columns per step
  Index max_basis = 0;  ///< m, columns of the basis before a restart. 0: there is no room for one
  Index pairs = 0;      ///< the most pairs that are computed, in a dense solve all n
};

/// The shape for `pairs` pairs, the wanted ones or more.
NearestShape nearest_shape(const NearestOptions& options, Index n, Index pairs);

}  // namespace heddle::detail
