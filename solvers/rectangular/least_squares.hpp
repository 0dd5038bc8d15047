#pragma once

#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>

namespace heddle {

/// The options of least squares: those of block CG, and what follows.
struct LeastSquaresOptions : BlockCgOptions {
  LeastSquaresOptions() = default;
  /// The options of block CG, with the defaults for the rest.
  LeastSquaresOptions(const BlockCgOptions& options) : BlockCgOptions(options) {}  // NOLINT

  double damp = 0;     ///< δ ≥ 0: ‖b − A x‖² + δ²‖x‖² is minimised
  bool direct = true;  ///< whether small problems may be solved by a dense factorisation
};

/// The least-squares problems min ‖b − A x‖₂ for all columns b of B at once. The struct owns none
/// of its operators and blocks. They must outlive the solve.
template <Scalar T, class Ctx>
struct LeastSquaresProblem {
  using Space = typename Ctx::Space;

  AdjointPair<T, Ctx> A{};                           ///< m×n, of any shape
  Preconditioner<T, Ctx>* preconditioner = nullptr;  ///< M⁻¹ ≈ (AᴴA)⁻¹, SPD. Null: identity
  ConstBlockView<T, Space> B{};                      ///< m×b, b ≥ 1
  ConstBlockView<T, Space> initial_guess{};          ///< n×b, or empty: zero
};

/// The result of a least-squares solve. Entry j of a list belongs to column j of B.
template <Scalar T, class Space>
struct LeastSquaresResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index operator_applications = 0;  ///< columns multiplied by A or Aᴴ
  /// ‖Aᴴ(b − A x) − δ²x‖₂ / ‖Aᴴb‖₂, recomputed at the end.
  std::vector<double> residuals;
  std::vector<bool> converged;           ///< whether the column passes the criterion
  std::vector<double> residual_norms;    ///< ‖b − A x‖₂, recomputed at the end
  std::vector<IterationRecord> history;  ///< of all rounds
  MultiVector<T, Space> solution;        ///< n×b
};

/// Estimated bytes of the context's memory that a solve with an m×n A and b columns holds, with its
/// result and without the operators, B and the initial guess. `scalar_size`: bytes per scalar of
/// the blocks.
double least_squares_memory_bytes(Index m, Index n, Index b, std::size_t scalar_size);

/// Least squares. Small matrices, with up to 1e8 operations of Householder's method, are factored
/// on the host in double: A = Q R with columns scaled to norm 1 and pivots. The rank of A is then
/// known to rounding. Where rounding leaves x no digits, the solve ends as `stagnated`. Others are
/// solved by block CG on the normal equations (AᴴA + δ²I) X = AᴴB, where AᴴA is not formed, and
/// factored if that fails, up to two minutes. A `max_iterations` below the default excludes
/// factoring.
///
/// The criterion applies to the residual Aᴴ(b − A x) − δ²x of the normal equations, formed from
/// b − A x as in CGLS: relative to ‖Aᴴb‖, or absolute. Where the columns of a stored A with m ≥ n
/// differ in size by more than a factor of 100, a relative criterion applies to the columns scaled
/// to a sum of 1, too. Block CG then takes this scaling as its preconditioner if none is given. If
/// such an A does not have full column rank, the solution is nearest to the initial guess in the
/// scaled norm.
/// Where this residual is larger than the one that block CG computes by recurrence, or where there
/// is an initial guess, block CG solves for a correction of X. A correction that increases both
/// ‖Aᴴ(b − A x)‖ and ‖b − A x‖ of a column is discarded for that column, so that no solution is
/// worse than the initial guess.
///
/// `CgAlgorithm::breakdown_free` is replaced by `pseudo_block` where it breaks down or stagnates,
/// as may happen if A is rank deficient or nearly so, and from the start if m < n. Search
/// directions that are shared by the columns would reach the null space of AᴴA, and the solution
/// would not be the one of least norm. If A does not have full column rank, the solution is the one
/// nearest to the initial guess. That is the one of least norm where no guess is given. An
/// ill-conditioned A takes about κ(A)·log iterations. Without a preconditioner, the error of the
/// solution is about κ(A)²·tolerance.
///
/// Numerical trouble is a status as in `block_cg`. Misuse throws `InvalidArgument`, which names
/// both sides. Source: Björck, Elfving, Strakoš, SIAM J. Matrix Anal. Appl. 19 (1998) 720.
template <Scalar T, class Ctx>
LeastSquaresResult<T, typename Ctx::Space> least_squares(Ctx& context,
                                                         const LeastSquaresProblem<T, Ctx>& problem,
                                                         const LeastSquaresOptions& options,
                                                         const Monitor& monitor = {});

}  // namespace heddle
