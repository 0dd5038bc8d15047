#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// The work of multigrid against chebyshev on the host for one matrix and block width, in products
/// of the matrix with the block. It is counted, not measured, so that equal problems get equal
/// choices. Constants: docs/methods/preconditioners.md, "auto".
class MultigridCosts {
 public:
  /// `scalar_size`: bytes per scalar of the preconditioner.
  MultigridCosts(Index rows, Index nnz, Index block, std::size_t scalar_size) noexcept;

  /// Making the levels.
  double setup() const noexcept { return setup_; }

  /// The degree of chebyshev from which multigrid saves its setup in a usual solve for eigenpairs.
  double least_degree() const noexcept;

  /// Whether multigrid saves its setup in a solve of linear systems with a condition number of A,
  /// scaled to a diagonal of ones, whose square root is `root`.
  bool pays_for(double root) const noexcept;

 private:
  double setup_;
};

}  // namespace heddle::detail
