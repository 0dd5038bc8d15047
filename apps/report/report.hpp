#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/report/run_facts.hpp>
#include <heddle/apps/report/value_table.hpp>
#include <heddle/drivers/plan/solve_plan.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <optional>
#include <string>
#include <vector>

/// Reports on a problem and its solution, on the terminal and in files.
namespace heddle::apps {

/// Facts about the problem that are known before the solve.
struct ProblemFacts {
  Index n = 0;     ///< rows
  Index cols = 0;  ///< columns of A, different from n only with `transform: normal_equations`
  Index nnz = 0;
  bool complex = false;                  ///< the problem has a complex matrix or block
  std::optional<Index> mass_nnz;         ///< of B; none if B = I
  std::optional<Index> geometric_nnz{};  ///< of K_g; none if no load factors are wanted
  /// The largest |a_ij − a_ji| of A, B and K_g relative to the largest entry, where (A + Aᵀ)/2 was
  /// taken.
  std::optional<double> asymmetry{};
  std::optional<double> mass_asymmetry{};
  std::optional<double> geometric_asymmetry{};
  Index constraints = 0;
  Index initial_guess = 0;
  Index rhs = 0;            ///< columns of the right-hand side, 0 for an eigenproblem
  std::string device;       ///< "host" or "cuda"
  std::string device_name;  ///< of a GPU
  std::string device_note;  ///< the reason for the choice of device, if it needs an explanation
  int threads = 0;          ///< number of threads on the host, per process
  int gpus = 0;             ///< of this process, 0 on the host
  int processes = 1;        ///< that solve together
  Index block_size = 0;
  std::string preconditioner;  ///< "jacobi of A", "jacobi of B" or "none", …
  double estimated_bytes = 0;  ///< estimated use of the device's memory
  double available_bytes = 0;  ///< available memory of the device
};

/// Wall-clock seconds of a run's stages.
struct StageSeconds {
  double total = 0;
  double load = 0;  ///< reading or generating and checking the matrices
};

/// The content of `result.json`.
struct Report {
  ProblemFacts problem;
  Solution result;
  StageSeconds seconds;
  RunFacts run{};
  std::vector<PlannedChoice> plan{};
  std::vector<InputSum> inputs{};
};

/// A few lines on the problem and the chosen solver.
std::string describe_problem(const Config& config, const ProblemFacts& problem);

/// The choices of a plan, one per line: name, what was chosen, and why.
std::string describe_plan(const std::vector<PlannedChoice>& choices);

/// The same as JSON, with the memory that `plan` needs.
std::string plan_json(const SolvePlan& plan);

/// An aligned table of the results: eigenvalues with their residuals, or residuals and backward
/// errors of the columns of a linear system, or those of the normal equations and ‖b − A x‖. Modes
/// of a pencil begin with their frequencies, and rows that have not converged are marked. A long
/// table is shortened to its first and last lines.
std::string result_table(const Solution& result, SolverType solver, TableStyle style = {});

/// An aligned table with seconds, share, traffic and arithmetic of each phase that took time, and
/// of all phases together. Bytes are the compulsory traffic of the phase's operations.
std::string profile_table(const Profile& profile);

/// Status, reason, time and accuracy in one line.
std::string summary_line(const Report& report, SolverType solver);

/// The text of `result.json`. NaN and infinities become null.
std::string result_json(const Config& config, const Report& report);

/// The text of `result.json` for a run that failed, with what is known of it.
std::string failure_json(const Config& config, const Report& report, const Failure& failure);

}  // namespace heddle::apps
