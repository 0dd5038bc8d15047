#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/solution.hpp>
#include <optional>
#include <string>
#include <vector>

/// What is told of a problem and its solution: on the terminal and in files.
namespace heddle::apps {

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
  double load = 0;  ///< reading or generating and checking the matrices
};

/// All that `result.json` tells.
struct Report {
  ProblemFacts problem;
  Solution result;
  StageSeconds seconds;
};

/// What will be solved and how, some lines.
std::string describe_problem(const Config& config, const ProblemFacts& problem);

/// The eigenvalues with their residuals, the residuals and backward errors of a linear system's
/// columns, or those of the normal equations and ‖b − A x‖, an aligned table; of many, the first
/// and the last.
std::string result_table(const Solution& result, SolverType solver);

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
