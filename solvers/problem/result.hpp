#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/orthogonal/ortho_counts.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// How a solve ended.
enum class SolveStatus {
  converged,  ///< converged, and verified with fresh products with the operators
  max_iterations,
  time_limit,
  breakdown,            ///< no search direction is left, or numbers are not finite
  stagnated,            ///< residuals have stopped falling at the level of rounding
  indefinite,           ///< B (or, for linear systems, A) is not positive definite
  verification_failed,  ///< the recurrence met the criterion, residuals from fresh products did not
  interrupted,          ///< the monitor returned false
};

/// The name of the status in `result.json`.
std::string_view status_name(SolveStatus status) noexcept;

/// The evidence that no pair nearer to the wanted end, or in the interval, is missing from a
/// result.
enum class CompletenessMethod {
  none,          ///< the solve ended before it looked
  dense,         ///< the whole spectrum was computed
  graph,         ///< the graph of A shows that no eigenvalue is negative, and all pairs are zeros
  random_block,  ///< a Krylov space of b random vectors holds all of fewer than b copies of a value
  random_search,  ///< a search from random vectors orthogonal to the pairs has found none
  stiff_rows,     ///< the same, in the stiff rows of A by themselves
  stiff_factor,   ///< the same, by a sparse Cholesky factor of the stiff rows
  factor,         ///< the same, by a sparse Cholesky factor of A − σB
  inertia,        ///< signs of the pivots of factors of A − σB count as many eigenvalues
};

/// The name of the method in `result.json`.
std::string_view completeness_method_name(CompletenessMethod method) noexcept;

/// How far a result is known to have all wanted pairs.
struct CompletenessEvidence {
  CompletenessMethod method =
      CompletenessMethod::none;  ///< the method that looked for missed pairs
  bool proven = false;           ///< whether this is a proof, up to the error bounds of the values

  /// The name of the method in `result.json`.
  std::string_view name() const noexcept { return completeness_method_name(method); }
};

/// One iteration in the history of a solve.
struct IterationRecord {
  Index iteration = 0;  ///< its number, as `iterations` of the result counts them
  Index converged = 0;  ///< wanted pairs that pass the criterion, counted from the first up to the
                        ///< first that does not. For linear systems: columns that pass
  double worst_residual = 0;  ///< largest residual of the wanted pairs or columns, scaled as in
                              ///< `EigenResult::residuals` or `LinearResult::residuals`
  double seconds = 0;         ///< since the solve began
  Index active_columns = 0;   ///< columns of this iteration's search directions
  Index operator_applications = 0;  ///< columns multiplied by A so far
};

/// The result of an eigensolver.
template <Scalar T, class Space>
struct EigenResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index operator_applications = 0;  ///< columns multiplied by A
  Index inverse_applications = 0;   ///< columns solved with A − σB by a `ShiftedInverse`
  std::vector<double> eigenvalues;  ///< ascending for smallest, descending for largest
  /// ‖A x − λ B x‖₂ / ((‖A‖₁ + |λ| ‖B‖₁) ‖x‖₂) of each pair, recomputed at the end.
  std::vector<double> residuals;
  /// A bound of the error of each eigenvalue, its own rounding included: ‖r‖ in the norm of B⁻¹, or
  /// about ‖r‖²/gap where the gap to the other eigenvalues is known. It is an estimate, because the
  /// gap is that of computed values. Source: Parlett, The Symmetric Eigenvalue Problem, chapter 11.
  std::vector<double> error_bounds;
  /// Whether rounding keeps the bound of each eigenvalue above tolerance·|λ|, so that no iteration
  /// could lower it. Such a pair counts as converged under `Criterion::eigenvalue`.
  std::vector<bool> limited_by_rounding;
  /// Of the pairs of an interval: whether an end of the interval lies within the bound of the error
  /// of each eigenvalue, so that the eigenvalue may lie beyond this end. Empty for other solves.
  std::vector<bool> straddles;
  /// Whether values converged only because their residuals are rounding errors, with error bounds
  /// above 1e-6·|λ|, and an inverse would reach more of their digits.
  bool inverse_reaches_more_digits = false;
  std::vector<bool> converged;  ///< whether the pair passes the criterion, by these numbers
  CompletenessEvidence completeness;
  double orthogonality = 0;  ///< max |XᵀBX − I|, recomputed at the end
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  MultiVector<T, Space> eigenvectors;  ///< n × eigenvalues.size() in its first columns
};

/// The result of a solver of linear systems A X = B. Entry j of each list belongs to column j of B.
template <Scalar T, class Space>
struct LinearResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index matrix_passes = 0;          ///< products of A with a block of any width
  Index operator_applications = 0;  ///< columns multiplied by A
  std::vector<double> residuals;    ///< ‖b − A x‖₂ / ‖b‖₂, recomputed at the end
  std::vector<bool> converged;      ///< whether the column passes the criterion, by these residuals
  /// ‖b − A x‖₂ / (‖A‖ ‖x‖₂ + ‖b‖₂), recomputed at the end. ‖A‖ is the `one_norm()` of the operator
  /// if it has one, else the largest Rayleigh quotient of the search directions. Rounding limits
  /// the backward error to about ε from below.
  std::vector<double> backward_errors;
  /// An estimate of the relative error of each column in the energy norm, ‖x − A⁻¹b‖_A/‖x‖_A, from
  /// the coefficients of its last steps. It is no bound: it is too small where the steps so far
  /// have not met a part of the solution. NaN without a step.
  std::vector<double> error_estimates;
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  MultiVector<T, Space> solution;  ///< n×b
};

}  // namespace heddle
