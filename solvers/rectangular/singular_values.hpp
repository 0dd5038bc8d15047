#pragma once

#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// The eigensolver that is applied to AᴴA.
enum class SingularSolver {
  automatic,  ///< block Lanczos, whose filter makes it fast at both ends
  block_lanczos,
  lobpcg,
};

/// The options of a search for singular triplets: those of the eigensolvers, with the largest end
/// as the default. `nev` counts triplets, from 1 to min(m, n). A triplet counts as converged when
/// both ‖A v − σ u‖₂ and ‖Aᴴu − σ v‖₂ are at most tolerance·‖A‖₂ (`norm`, `eigenvalue`),
/// tolerance·σ (`relative`) or tolerance (`absolute`). `eigenvalue` also asks that the error of σ
/// be at most tolerance·σ, or as small as rounding of A allows in the precision of the solve.
struct SingularOptions : EigenOptions {
  SingularOptions() noexcept { which = Which::largest; }

  SingularSolver solver = SingularSolver::automatic;  ///< the eigensolver for AᴴA
};

/// The result of a search for singular triplets.
template <Scalar T, class Space>
struct SingularResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;                   ///< a sentence
  Index iterations = 0;                 ///< of the eigensolver. 0: solved as a dense problem
  Index operator_applications = 0;      ///< columns multiplied by A or Aᴴ
  std::vector<double> singular_values;  ///< ascending for smallest, descending for largest
  /// max(‖A v − σ u‖₂, ‖Aᴴu − σ v‖₂) / ‖A‖₂, recomputed at the end.
  std::vector<double> residuals;
  /// As in `EigenResult`, for the singular values.
  std::vector<double> error_bounds;
  std::vector<bool> limited_by_rounding;
  std::vector<bool> converged;  ///< whether the triplet passes the criterion
  CompletenessEvidence completeness;
  double norm = 0;  ///< ‖A‖₂, by which residuals are divided: the largest singular value
                    ///< if it is among the wanted ones, else an estimate from below
  double orthogonality = 0;  ///< max(|UᴴU − I|, |VᴴV − I|), recomputed at the end
  std::vector<IterationRecord> history;  ///< of the eigensolver, with the residuals of AᴴA
  OrthoCounts orthogonalization;         ///< of the eigensolver and of the triplets
  MultiVector<T, Space> left_vectors;    ///< U, m × singular_values.size() in its first columns
  MultiVector<T, Space> right_vectors;   ///< V, n × singular_values.size() likewise
};

/// The number of columns per product in a search for singular triplets of an m×n matrix: the
/// eigensolver's block size, or min(m, n) if the matrix is decomposed as a dense one.
Index singular_block_size(const SingularOptions& options, Index m, Index n);

/// Estimated bytes of the context's memory that a search holds, with its result and without the two
/// operators. `scalar_size`: bytes per scalar of the blocks.
double singular_memory_bytes(const SingularOptions& options, Index m, Index n,
                             std::size_t scalar_size);

/// The `nev` largest or smallest singular triplets A v = σ u, Aᴴu = σ v of a matrix of any shape.
///
/// An eigensolver finds the singular vectors of the shorter side, say V, as eigenvectors of AᴴA (or
/// A Aᴴ), which is applied as an operator. Squaring loses half of the digits of small σ. Therefore
/// the triplets are extracted from A: A V = Q R and the singular value decomposition
/// R = P diag(σ) Zᴴ give U = Q P and V ← V Z, the best triplets that the space of V contains. Where
/// the residuals of the triplets are larger than the criterion allows, the eigensolver continues
/// from V with a stricter tolerance, up to three times. Largest σ that are so small relative to
/// ‖A‖₂ that rounding errors of AᴴA hide them are found with A (I − V Vᴴ), V the vectors of the
/// larger ones. A smallest σ whose error exceeds 1e-6·σ because of AᴴA does not count as converged.
///
/// Small matrices are decomposed as dense ones:
/// - If the shorter side is at most 512 long and A has at most 2²⁰ entries, zeros included, A is
///   decomposed on the host in double. All σ are then exact to ε‖A‖₂, also where A is singular or
///   nearly so.
/// - Else, if the shorter side is at most 128 long or shorter than four times nev, V = I, which
///   needs memory for two more blocks of the size of A stored as a dense matrix.
/// - Up to 2²⁵ entries, the decomposition on the host is the last resort, provided that it should
///   take at most two minutes and no longer than the time limit leaves. It replaces an eigensolver
///   that failed, unless it failed by a `max_iterations` below the default, and cycles of block
///   Lanczos whose products would take longer. It needs three times the size of the dense A and
///   about ten times that of AᴴA on the host. Nothing interrupts it.
///
/// For σ = 0, A v = 0 does not determine the vector u of the longer side. It is any unit vector
/// with Aᴴu = 0 that is orthogonal to the other vectors of this side. A large residual ‖Aᴴu‖ shows
/// that u is still to be found for a σ below what the criterion allows. In that case least squares
/// removes from random vectors their part in the range of A restricted to vectors orthogonal to V,
/// and Uᴴ A V gives the σ of the remaining vectors. A residual of `tolerance·σ` cannot be reached
/// at σ = 0. With the criterion `relative`, a σ up to 100·ε·‖A‖₂ may therefore have a residual of
/// up to 100·ε·‖A‖₂. A σ between that and ε·‖A‖₂/tolerance ends as `stagnated`.
///
/// The monitor is called after each iteration of the eigensolver, with the squares of the singular
/// values. `max_iterations` limits these iterations. The monitor is also called after each
/// iteration of block CG in the search for vectors of σ = 0. Numerical trouble is a status in the
/// result. Misuse throws `InvalidArgument`, which names both sides. Source: Golub & Van Loan,
/// Matrix Computations, 8.6 (Rayleigh–Ritz steps from one side); Hochstenbach, SISC 23 (2001) 606.
template <Scalar T, class Ctx>
SingularResult<T, typename Ctx::Space> singular_triplets(Ctx& context,
                                                         const AdjointPair<T, Ctx>& pair,
                                                         const SingularOptions& options,
                                                         const Monitor& monitor = {});

}  // namespace heddle
