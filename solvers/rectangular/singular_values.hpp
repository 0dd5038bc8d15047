#pragma once

#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// Which eigensolver iterates on the normal equations.
enum class SingularSolver {
  automatic,  ///< block Lanczos, whose filter reaches the smallest end, too
  block_lanczos,
  lobpcg,
};

/// What a search for singular triplets is asked for: the options of the eigensolvers, with the
/// largest end the default. `nev` counts triplets, from 1 to min(m, n). A triplet counts as
/// converged when both ‖A v − σ u‖₂ and ‖Aᵀu − σ v‖₂ are at most tolerance·‖A‖₂ (`norm`),
/// tolerance·σ (`relative`) or tolerance (`absolute`).
struct SingularOptions : EigenOptions {
  SingularOptions() noexcept { which = Which::largest; }

  SingularSolver solver = SingularSolver::automatic;
};

/// What a search for singular triplets gives back.
template <Scalar T, class Space>
struct SingularResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;                   ///< a sentence
  Index iterations = 0;                 ///< of the eigensolver; 0: solved as a dense problem
  Index operator_applications = 0;      ///< columns multiplied by A or Aᵀ
  std::vector<double> singular_values;  ///< ascending for smallest, descending for largest
  /// max(‖A v − σ u‖₂, ‖Aᵀu − σ v‖₂) / ‖A‖₂, recomputed at the end.
  std::vector<double> residuals;
  double norm = 0;  ///< ‖A‖₂ as residuals are measured against: the largest singular value
                    ///< if it is among the wanted, else an estimate from below
  double orthogonality = 0;  ///< max(|UᵀU − I|, |VᵀV − I|), recomputed at the end
  std::vector<IterationRecord> history;  ///< of the eigensolver, whose residuals are those of AᵀA
  OrthoCounts orthogonalization;         ///< of the eigensolver and of the triplets
  MultiVector<T, Space> left_vectors;    ///< U, m × singular_values.size() in its first columns
  MultiVector<T, Space> right_vectors;   ///< V, n × singular_values.size() likewise
};

/// Columns that a search in a matrix of m×n multiplies at once: the eigensolver's block, or, where
/// the matrix is decomposed as a dense one, all of the shorter side.
Index singular_block_size(const SingularOptions& options, Index m, Index n);

/// Bytes of the context's memory that a search holds beside the two operators, its result included.
/// `scalar_size`: bytes of a scalar of the blocks.
double singular_memory_bytes(const SingularOptions& options, Index m, Index n,
                             std::size_t scalar_size);

/// The `nev` largest or smallest singular triplets A v = σ u, Aᵀu = σ v of a matrix of any shape.
///
/// An eigensolver finds the singular vectors of the shorter side, say V, from AᵀA (or A Aᵀ) as an
/// operator. Squaring costs half of the digits of small σ; so the triplets are taken from A itself:
/// A V = Q R and the singular value decomposition R = P diag(σ) Zᵀ give U = Q P and V ← V Z, the
/// best that the space of V holds. Where residuals of the triplets are not yet as small as asked,
/// the eigensolver goes on from V with a stricter tolerance, three times at most. If the
/// shorter side is at most 128 long, or not four times nev, V = I: that is the dense decomposition
/// of A, in memory for two more blocks of A's size stored densely. If it is at most 512 long and A
/// has no more than 2²⁰ entries, zeros included, A is decomposed on the host in double, exact to
/// ε‖A‖₂ for all σ, and complete where A is singular or nearly so. The same is the last resort up
/// to 2²⁵ entries where it should take two minutes at most and no longer than the time limit
/// leaves: when the eigensolver ends without the triplets, unless by a `max_iterations` below the
/// default, and in place of cycles of block Lanczos whose products would take longer. It takes
/// three times A's size and some ten times AᵀA's on the host, and nothing interrupts it.
///
/// A v = 0 says nothing of the vector of the longer side that belongs to σ = 0: that is any unit
/// vector u with Aᵀu = 0 orthogonal to the other ones. Where a residual ‖Aᵀu‖ shows that u is still
/// to be found for a σ below what the criterion allows, random vectors lose their part in the range
/// of A restricted to vectors orthogonal to V, by least squares (`NullVectors`), and Uᵀ A V decides
/// about the σ. `tolerance·σ` cannot hold at σ = 0: by the criterion `relative`, σ up to 100·ε·‖A‖₂
/// may have residuals of that size; those between that and ε·‖A‖₂/tolerance end as `stagnated`.
///
/// The monitor sees the eigensolver's iterations, which `max_iterations` limits: squares of
/// singular values; then those of block CG if there are vectors of σ = 0 to look for. Numerical
/// trouble is a status in the result; misuse throws `InvalidArgument` naming both sides. Source:
/// Golub & Van Loan, Matrix Computations, 8.6 (Rayleigh–Ritz steps from one side); Hochstenbach,
/// SISC 23 (2001) 606.
template <Scalar T, class Ctx>
SingularResult<T, typename Ctx::Space> singular_triplets(Ctx& context,
                                                         const AdjointPair<T, Ctx>& pair,
                                                         const SingularOptions& options,
                                                         const Monitor& monitor = {});

}  // namespace heddle
