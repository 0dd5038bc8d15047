#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>

namespace heddle {

/// The eigenproblem A x = λ B x with A symmetric and B symmetric positive definite, both n×n. The
/// struct owns none of its operators and blocks. They must outlive the solve.
///
/// Block Lanczos with a `shifted_inverse` and without a `B_inverse` takes a semidefinite B, too, as
/// of a structure with unknowns that have no mass. Eigenvalues are then infinite as often as B has
/// null vectors. They are left out.
template <Scalar T, class Ctx>
struct EigenProblem {
  using Space = typename Ctx::Space;

  LinearOperator<T, Ctx>* A = nullptr;               ///< symmetric n×n, not null
  LinearOperator<T, Ctx>* B = nullptr;               ///< null: B = I
  Preconditioner<T, Ctx>* preconditioner = nullptr;  ///< null: identity
  /// n×c. The eigenvectors are those of A restricted to the vectors B-orthogonal to it, and
  /// residuals are A x − λ B x without its part in the span of B·constraints. LOBPCG and
  /// `nearest_eigenpairs` take constraints.
  ConstBlockView<T, Space> constraints{};
  ConstBlockView<T, Space> initial_guess{};     ///< n×g. The first min(g, b − 2) columns start X
                                                ///< (n×b). The other columns of X are random
  LinearOperator<T, Ctx>* B_inverse = nullptr;  ///< applies B⁻¹. Only block Lanczos needs it
  /// Applies (A − σB)⁻¹. Block Lanczos factors A − σB if the smallest eigenvalues are wanted and
  /// this costs less than polynomial filters, see `LanczosFilter`. Null: it never factors.
  ShiftedInverse<T, Ctx>* shifted_inverse = nullptr;
  /// Z, n×k, with A Z = 0 to rounding and ZᵀBZ = I, for the smallest end of an A that is known to
  /// be positive semidefinite, see `graph_null_space`. LOBPCG and block Lanczos count these vectors
  /// as converged pairs from the start. They need k < nev, a Z that spans the null space, and no
  /// constraints. `null_pairs` needs k ≥ nev.
  ConstBlockView<T, Space> null_vectors{};
  /// Whether `initial_guess` comes from a solve of this problem, for the same end of the spectrum,
  /// that began with random vectors, such as one in lower precision. Any other guess may consist of
  /// eigenvectors and lack a wanted one, so that the solve looks for evidence that it does not.
  bool guess_from_random = false;
};

}  // namespace heddle
