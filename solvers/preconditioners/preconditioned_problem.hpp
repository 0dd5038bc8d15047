#pragma once

#include <heddle/solvers/problem/options.hpp>
#include <string_view>

namespace heddle {

/// The solves that differ in the preconditioners that they take.
enum class PreconditionedTask {
  eigenpairs,        ///< A x = λ B x by LOBPCG
  linear_system,     ///< A X = B by block CG
  least_squares,     ///< min ‖B − A X‖ by block CG on AᵀA X = AᵀB
  unpreconditioned,  ///< takes no preconditioner: block Lanczos, singular triplets
};

/// The matrix whose inverse a preconditioner approximates.
enum class PreconditionedMatrix { A, B, normal_equations };

/// For reports: "A", "B", "A^T A".
std::string_view matrix_name(PreconditionedMatrix matrix) noexcept;

/// What is known of a matrix. Each level includes those before it.
enum class MatrixAccess {
  products,  ///< products with blocks only
  diagonal,  ///< the diagonal, too
  entries,   ///< all entries
};

/// What the choice of a preconditioner depends on.
struct PreconditionedProblem {
  PreconditionedTask task = PreconditionedTask::eigenpairs;
  Which which = Which::smallest;  ///< the end that is wanted of `eigenpairs`
  bool pencil = false;            ///< of `eigenpairs`: there is a B
  bool stored = true;             ///< the matrices are stored, not only operators

  /// B at the largest end of a pencil, AᵀA of least squares, else A.
  PreconditionedMatrix matrix() const noexcept;

  /// What is known of `matrix()`. Of AᵀA that is at most its diagonal.
  MatrixAccess access() const noexcept;
};

}  // namespace heddle
