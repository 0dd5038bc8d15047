#pragma once

#include <heddle/solvers/rectangular/singular_values.hpp>

namespace heddle::detail {

/// How the singular triplets of a matrix are found.
enum class SingularRoute {
  decompose,  ///< dense singular value decomposition on the host, for small matrices
  dense,      ///< extraction from the space of all vectors of the shorter side, V = I
  iterate,    ///< extraction from the space that an eigensolver finds
};

/// The route for an m×n matrix.
SingularRoute singular_route(const SingularOptions& options, Index m, Index n);

/// The cost of the dense singular value decomposition on the host, for a matrix with sides
/// `longer` ≥ `shorter`.
struct DecompositionCost {
  double longer = 0;
  double shorter = 0;
  bool complex = false;

  double operations() const noexcept;
  double seconds() const noexcept;

  /// Whether the decomposition is small enough to replace an eigensolver that fails. It cannot be
  /// interrupted.
  bool acceptable() const noexcept;
};

}  // namespace heddle::detail
