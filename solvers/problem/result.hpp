#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/orthogonal/ortho_counts.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// How a solve ended.
enum class SolveStatus {
  converged,  ///< and verified with fresh products
  max_iterations,
  time_limit,
  breakdown,            ///< no direction left to go, or numbers that are not finite
  stagnated,            ///< residuals stopped falling at what the precision can reach
  indefinite,           ///< B (or, for linear systems, A) is not positive definite
  verification_failed,  ///< the recurrence said converged, the fresh products did not
  interrupted,          ///< by the monitor
};

/// The status as it stands in `result.json`.
std::string_view status_name(SolveStatus status) noexcept;

/// One iteration as the history keeps it and the monitor sees it.
struct IterationRecord {
  Index iteration = 0;
  Index converged = 0;        ///< wanted pairs that pass the criterion, in order; columns that do
  double worst_residual = 0;  ///< largest among the wanted, scaled as in `EigenResult::residuals`
                              ///< or `LinearResult::residuals`
  double seconds = 0;         ///< since the solve began
  Index active_columns = 0;   ///< columns of this iteration's search directions
  Index operator_applications = 0;  ///< columns multiplied by A so far
};

/// What an eigensolver gives back.
template <Scalar T, class Space>
struct EigenResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index operator_applications = 0;  ///< columns multiplied by A
  Index inverse_applications = 0;   ///< columns solved with A − σB by a `ShiftedInverse`
  std::vector<double> eigenvalues;  ///< ascending for smallest, descending for largest
  /// ‖A x − λ B x‖₂ / ((‖A‖₁ + |λ| ‖B‖₁) ‖x‖₂), recomputed at the end.
  std::vector<double> residuals;
  double orthogonality = 0;  ///< max |XᵀBX − I|, recomputed at the end
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  MultiVector<T, Space> eigenvectors;  ///< n × eigenvalues.size() in its first columns
};

/// What a solver of linear systems A X = B gives back; entry j of a list belongs to column j of B.
template <Scalar T, class Space>
struct LinearResult {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;  ///< a sentence
  Index iterations = 0;
  Index matrix_passes = 0;          ///< products of A with a block, of whatever width
  Index operator_applications = 0;  ///< columns multiplied by A
  std::vector<double> residuals;    ///< ‖b − A x‖₂ / ‖b‖₂, recomputed at the end
  /// ‖b − A x‖₂ / (‖A‖ ‖x‖₂ + ‖b‖₂), recomputed at the end; ‖A‖ is ‖A‖₁ where the operator knows
  /// it, else the largest Rayleigh quotient met. About ε is the least that rounding allows.
  std::vector<double> backward_errors;
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  MultiVector<T, Space> solution;  ///< n×b
};

}  // namespace heddle
