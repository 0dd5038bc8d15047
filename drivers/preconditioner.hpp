#pragma once

#include <heddle/drivers/request.hpp>
#include <string>
#include <string_view>

namespace heddle::detail {

enum class PreconditionedMatrix { A, B, normal_equations };

/// What the choice of a preconditioner depends on.
struct PreconditionerTask {
  bool pencil = false;
  bool normal_equations = false;
  bool A_stored = true;
  bool B_stored = true;
};

/// A preconditioner as it will be made.
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

/// What `request`, its method chosen, means for `task`.
PreconditionerPlan plan_preconditioner(const Request& request, const PreconditionerTask& task);

}  // namespace heddle::detail
