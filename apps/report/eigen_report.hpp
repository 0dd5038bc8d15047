#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/linalg/profile.hpp>
#include <heddle/solvers/result.hpp>
#include <optional>
#include <string>
#include <vector>

/// What is told of an eigenproblem and its solution: on the terminal and in files.
namespace heddle::apps {

/// An `EigenResult` without its vectors, whatever their scalar and memory space. Fields as there.
struct EigenSummary {
  SolveStatus status = SolveStatus::breakdown;
  std::string reason;
  Index iterations = 0;
  Index operator_applications = 0;
  std::vector<double> eigenvalues;
  std::vector<double> residuals;
  double orthogonality = 0;
  std::vector<IterationRecord> history;
  OrthoCounts orthogonalization;
};

template <Scalar T, class Space>
EigenSummary summarize(const EigenResult<T, Space>& result) {
  return {
      result.status,           result.reason,    result.iterations,    result.operator_applications,
      result.eigenvalues,      result.residuals, result.orthogonality, result.history,
      result.orthogonalization};
}

/// What is known before the solve.
struct ProblemFacts {
  Index n = 0;
  Index nnz = 0;
  std::optional<Index> mass_nnz;  ///< none: B = I
  Index constraints = 0;
  Index initial_guess = 0;
  std::string device;       ///< "host" or "cuda"
  std::string device_name;  ///< of a GPU
  std::string device_note;  ///< why, where that needs saying
  int threads = 0;          ///< on the host
  Index block_size = 0;
  std::string preconditioner;  ///< "jacobi of A", "jacobi of B" or "none"
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
struct EigenReport {
  ProblemFacts problem;
  EigenSummary result;
  std::string spmm_kernel;
  std::string spmm_reason;
  StageSeconds seconds;
  Profile profile;             ///< of the context, over setup and solve
  std::size_t peak_bytes = 0;  ///< allocated through the context at once
};

/// What will be solved and how, some lines.
std::string describe_problem(const Config& config, const ProblemFacts& problem);

/// The eigenvalues with their residuals, an aligned table; of many, the first and the last.
std::string eigenvalue_table(const EigenSummary& result);

/// Seconds, share, traffic and arithmetic of each phase that took time, and of all; an aligned
/// table. Bytes are the compulsory ones of the phase's operations.
std::string profile_table(const Profile& profile);

/// Status, reason, time and accuracy on one line.
std::string summary_line(const EigenReport& report);

/// The text of `history.csv`: a line an iteration under one with the names.
std::string history_csv(const std::vector<IterationRecord>& history);

/// The text of `result.json`. NaN and infinities become null.
std::string result_json(const Config& config, const EigenReport& report);

}  // namespace heddle::apps
