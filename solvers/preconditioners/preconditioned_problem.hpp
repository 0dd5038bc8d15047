#pragma once

#include <heddle/solvers/problem/options.hpp>
#include <string_view>

namespace heddle {

/// The kinds of solves. Solves of one kind can use the same preconditioners.
enum class PreconditionedTask {
  eigenpairs,        ///< A x = λ B x by LOBPCG
  linear_system,     ///< A X = B by block CG
  least_squares,     ///< min ‖B − A X‖ by block CG on AᵀA X = AᵀB
  unpreconditioned,  ///< takes no preconditioner: block Lanczos, singular triplets
};

/// The matrix whose inverse a preconditioner approximates.
enum class PreconditionedMatrix { A, B, normal_equations };

/// The name of the matrix in reports: "A", "B" or "A^T A".
std::string_view matrix_name(PreconditionedMatrix matrix) noexcept;

/// The access to a matrix that is available or needed. Each level includes those before it.
enum class MatrixAccess {
  products,  ///< products with blocks only
  diagonal,  ///< products and the diagonal
  entries,   ///< all entries
};

/// The properties of a problem that determine which preconditioners suit it.
struct PreconditionedProblem {
  PreconditionedTask task = PreconditionedTask::eigenpairs;
  Which which = Which::smallest;  ///< for `eigenpairs`: the wanted end of the spectrum
  bool pencil = false;            ///< for `eigenpairs`: whether there is a B ≠ I
  bool stored = true;             ///< whether the matrices are stored
  bool distributed = false;       ///< whether several processes hold the rows of the matrices

  /// The matrix to precondition: B for the largest eigenvalues of A x = λ B x, AᵀA for least
  /// squares, else A.
  PreconditionedMatrix matrix() const noexcept;

  /// The available access to `matrix()`. For AᵀA this is at most `diagonal`.
  MatrixAccess access() const noexcept;
};

}  // namespace heddle
