#pragma once

#include <heddle/apps/config/config.hpp>
#include <string>
#include <string_view>

namespace heddle::apps {

enum class PreconditionedMatrix { A, B, normal_equations };

/// A preconditioner as it will be built.
struct PreconditionerPlan {
  PreconditionerChoice type = PreconditionerChoice::none;  ///< not `automatic`
  PreconditionedMatrix matrix = PreconditionedMatrix::A;   ///< whose inverse it approximates
  int degree = 0;                                          ///< of a Chebyshev polynomial
  Index block_size = 0;  ///< of block Jacobi; 0: found from the matrix
  TriangularSolve triangular_solve = TriangularSolve::automatic;  ///< of incomplete Cholesky

  /// The type as in the configuration.
  std::string_view name() const noexcept;
  /// "none", "jacobi of A", "chebyshev of B, degree 10".
  std::string describe() const;
};

/// What making a preconditioner took.
struct PreconditionerCost {
  double seconds = 0;
  std::size_t bytes = 0;  ///< of the device's memory that it keeps
};

/// What `config` means for a single matrix or a pencil.
PreconditionerPlan plan_preconditioner(const Config& config, bool pencil);

}  // namespace heddle::apps
