#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/linalg/base/profile.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

/// What is told of a problem and its solution: on the terminal and in files.
namespace heddle::apps {

/// An `EigenResult`, a `SingularResult`, a `LinearResult` or a `LeastSquaresResult` without its
/// vectors, whatever their scalar and memory space. Fields as there; those of other kinds are
/// empty.
struct Summary {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;
  Index iterations = 0;
  Index operator_applications = 0;
  Index inverse_applications = 0;
  std::vector<double> residuals;
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
  std::vector<double> eigenvalues;
  std::vector<double> singular_values;  ///< `eigenvalues` are then their squares
  double orthogonality = 0;
  Index matrix_passes = 0;
  std::vector<double> backward_errors;
  std::vector<double> residual_norms;

  /// Eigenvectors, or columns of the solution, that there are.
  Index count() const noexcept { return std::ssize(eigenvalues.empty() ? residuals : eigenvalues); }
};

/// What all kinds of results have.
template <class Result>
Summary summarize_common(const Result& result) {
  Summary summary;
  summary.status = result.status;
  summary.reason = result.reason;
  summary.iterations = result.iterations;
  summary.operator_applications = result.operator_applications;
  summary.residuals = result.residuals;
  summary.history = result.history;
  return summary;
}

template <Scalar T, class Space>
Summary summarize(const EigenResult<T, Space>& result) {
  Summary summary = summarize_common(result);
  summary.orthogonalization = result.orthogonalization;
  summary.inverse_applications = result.inverse_applications;
  summary.eigenvalues = result.eigenvalues;
  summary.orthogonality = result.orthogonality;
  return summary;
}

template <Scalar T, class Space>
Summary summarize(const SingularResult<T, Space>& result) {
  Summary summary = summarize_common(result);
  summary.orthogonalization = result.orthogonalization;
  summary.singular_values = result.singular_values;
  for (const double sigma : result.singular_values) summary.eigenvalues.push_back(sigma * sigma);
  summary.orthogonality = result.orthogonality;
  return summary;
}

template <Scalar T, class Space>
Summary summarize(const LinearResult<T, Space>& result) {
  Summary summary = summarize_common(result);
  summary.orthogonalization = result.orthogonalization;
  summary.matrix_passes = result.matrix_passes;
  summary.backward_errors = result.backward_errors;
  return summary;
}

template <Scalar T, class Space>
Summary summarize(const LeastSquaresResult<T, Space>& result) {
  Summary summary = summarize_common(result);
  summary.residual_norms = result.residual_norms;
  return summary;
}

/// What is known before the solve.
struct ProblemFacts {
  Index n = 0;     ///< rows
  Index cols = 0;  ///< of A; other than n only with `transform: normal_equations`
  Index nnz = 0;
  std::optional<Index> mass_nnz;  ///< none: B = I
  Index constraints = 0;
  Index initial_guess = 0;
  Index rhs = 0;            ///< columns; 0 for an eigenproblem
  std::string device;       ///< "host" or "cuda"
  std::string device_name;  ///< of a GPU
  std::string device_note;  ///< why, where that needs saying
  int threads = 0;          ///< on the host
  Index block_size = 0;
  std::string preconditioner;  ///< "jacobi of A", "jacobi of B" or "none", …
  double estimated_bytes = 0;  ///< of the device's memory
  double available_bytes = 0;  ///< likewise
};

/// Wall-clock seconds of a run's stages.
struct StageSeconds {
  double total = 0;
  double load = 0;   ///< reading or generating and checking the matrices
  double setup = 0;  ///< planning the products and the preconditioner
  double solve = 0;
};

/// All that `result.json` tells.
struct Report {
  ProblemFacts problem;
  Summary result;
  std::string spmm_kernel;
  std::string spmm_reason;
  PreconditionerCost preconditioner;
  StageSeconds seconds;
  Profile profile;             ///< of the context, over setup and solve
  std::size_t peak_bytes = 0;  ///< allocated through the context at once
};

/// What will be solved and how, some lines.
std::string describe_problem(const Config& config, const ProblemFacts& problem);

/// The eigenvalues with their residuals, the residuals and backward errors of a linear system's
/// columns, or those of the normal equations and ‖b − A x‖, an aligned table; of many, the first
/// and the last.
std::string result_table(const Summary& result, SolverType solver);

/// Seconds, share, traffic and arithmetic of each phase that took time, and of all; an aligned
/// table. Bytes are the compulsory ones of the phase's operations.
std::string profile_table(const Profile& profile);

/// Status, reason, time and accuracy on one line.
std::string summary_line(const Report& report, SolverType solver);

/// The text of `history.csv`: a line an iteration under one with the names.
std::string history_csv(const std::vector<IterationRecord>& history);

/// The text of `result.json`. NaN and infinities become null.
std::string result_json(const Config& config, const Report& report);

}  // namespace heddle::apps
