#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/apps/report/report.hpp>
#include <iterator>
#include <utility>
#include <vector>

namespace heddle::apps {
namespace {

std::string human_bytes(double bytes) {
  constexpr double kMiB = 1024.0 * 1024.0;
  return bytes < 1024 * kMiB ? fmt::format("{:.1f} MiB", bytes / kMiB)
                             : fmt::format("{:.1f} GiB", bytes / (1024 * kMiB));
}

/// The word that the configuration gives for a key, e.g. "norm" for `solver.criterion`.
std::string chosen(const Config& config, std::string_view section, std::string_view key) {
  const ConfigNode* node = &config.effective;
  if (!section.empty()) node = node->find(section);
  return node->find(key)->text;
}

std::string describe_tolerance(const Config& config) {
  const double fallback = config.request.precision == Precision::single ? kDefaultTolerance<float>
                                                                        : kDefaultTolerance<double>;
  return fmt::format("{:g} ({} criterion)",
                     config.request.tolerance > 0 ? config.request.tolerance : fallback,
                     chosen(config, "solver", "criterion"));
}

std::string describe_device(const ProblemFacts& problem) {
  if (problem.processes > 1) {
    return problem.device_name.empty()
               ? fmt::format("{}, {} processes of {} threads", problem.device, problem.processes,
                             problem.threads)
               : fmt::format("{}, {} processes with one {} each", problem.device, problem.processes,
                             problem.device_name);
  }
  if (problem.gpus > 1) {
    return fmt::format("{}, {} GPUs: {}", problem.device, problem.gpus, problem.device_name);
  }
  return problem.device_name.empty()
             ? fmt::format("{}, {} threads", problem.device, problem.threads)
             : fmt::format("{}, {}", problem.device, problem.device_name);
}

std::string describe_matrix(const MatrixSource& source, Index n, Index nnz) {
  return fmt::format("{}: {} rows, {} entries", source.describe(), n, nnz);
}

/// The checkpoint's file and the interval between checkpoints. Empty if there is no checkpoint.
std::string describe_checkpoint(const CheckpointOptions& checkpoint) {
  if (checkpoint.file.empty()) return "";
  return fmt::format("{}, every {:g} s{}", checkpoint.file.string(), checkpoint.every_s,
                     checkpoint.resume ? "; goes on from it" : "");
}

std::string_view side_of(Side side) {
  return side == Side::both ? "" : side == Side::above ? ", above it" : ", below it";
}

/// "4 smallest positive load factors", "4 load factors nearest to 2.5, above it".
std::string describe_load_factors(const Request& request, Index nev) {
  const Side side = request.side.value_or(request.sigma ? Side::both : Side::above);
  if (!request.sigma) {
    const std::string_view sign = side == Side::above   ? "smallest positive load factors"
                                  : side == Side::below ? "negative load factors nearest to zero"
                                                        : "smallest load factors of both signs";
    return fmt::format("{} {}", nev, sign);
  }
  return fmt::format("{} load factors nearest to {}{}", nev, *request.sigma, side_of(side));
}

/// A short description of the problem.
std::string describe_task(const Config& config, const ProblemFacts& problem) {
  if (solves_least_squares(config)) {
    return fmt::format("min |b - A x|, A of {} x {}, right-hand sides: {} columns, {}", problem.n,
                       problem.cols, problem.rhs, config.problem.rhs.describe());
  }
  if (!is_eigensolver(config.request.method)) {
    return fmt::format("A X = B, right-hand sides: {} columns, {}", problem.rhs,
                       config.problem.rhs.describe());
  }
  const Index asked = config.request.nev;
  const Index nev = asked > 0 ? asked : EigenOptions{}.nev;
  if (finds_triplets(config)) {
    return fmt::format("A v = sigma u, {} {} singular triplets of {} x {}", nev,
                       chosen(config, "solver", "which"), problem.n, problem.cols);
  }
  if (problem.geometric_nnz) {
    return "A x = -lambda K_g x, " + describe_load_factors(config.request, nev);
  }
  const char* const equation = problem.mass_nnz ? "A x = lambda B x" : "A x = lambda x";
  if (const std::optional<RealInterval>& interval = config.request.interval) {
    return fmt::format("{}, all eigenpairs in [{}, {}]{}", equation, interval->lower,
                       interval->upper, asked > 0 ? fmt::format(", at most {}", asked) : "");
  }
  if (const std::optional<double>& sigma = config.request.sigma) {
    return fmt::format("{}, {} eigenpairs nearest to {}{}", equation, nev, *sigma,
                       side_of(config.request.side.value_or(Side::both)));
  }
  return fmt::format("{}, {} {} eigenpairs", equation, nev, chosen(config, "solver", "which"));
}

/// The name of the algorithm, for solvers that offer several.
std::string describe_solver(const Config& config) {
  if (config.request.method != SolverType::block_cg)
    return std::string(method_name(config.request.method));
  return fmt::format("{} ({})", method_name(config.request.method),
                     chosen(config, "solver", "algorithm"));
}

Table table_of(const Solution& result, SolverType solver, TableStyle style) {
  const auto at = [](const std::vector<double>& list, std::size_t i) {
    return i < list.size() ? list[i] : 0.0;
  };
  if (is_eigensolver(solver)) return value_table(result, style);
  const bool linear = result.residual_norms.empty();
  return {fmt::format("{:>6}  {:>8}  {:>14}\n", "column", "residual",
                      linear ? "backward error" : "|b - A x|"),
          [&result, linear, at](std::size_t i) {
            const std::string second = linear ? fmt::format("{:.1e}", at(result.backward_errors, i))
                                              : fmt::format("{:.6e}", at(result.residual_norms, i));
            return fmt::format("{:>6}  {:>8.1e}  {:>14}{}\n", i + 1, result.residuals[i], second,
                               unconverged_mark(result, i));
          },
          9};
}

/// Iterations and other counts for the last line of a solve's output.
std::string describe_effort(const Solution& result, SolverType solver) {
  if (is_eigensolver(solver)) return fmt::format("orthogonality {:.1e}", result.orthogonality);
  if (result.residual_norms.empty()) return fmt::format("{} passes over A", result.matrix_passes);
  return fmt::format("{} columns multiplied by A or A^T", result.operator_applications);
}

}  // namespace

std::string describe_plan(const std::vector<PlannedChoice>& choices) {
  std::string text;
  for (const PlannedChoice& choice : choices) {
    text += fmt::format("{:<26}{}{}{}\n", choice.name, choice.value,
                        choice.reason.empty() ? "" : ": ", choice.reason);
  }
  return text;
}

std::string describe_problem(const Config& config, const ProblemFacts& problem) {
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "  {:<16}{}\n", name, value);
  };
  line("problem", describe_task(config, problem));
  line("A", describe_matrix(config.problem.matrix, problem.n, problem.nnz));
  if (config.problem.transform != Transform::none) {
    line("transform", chosen(config, "problem", "transform"));
  }
  if (problem.mass_nnz) {
    line("B", describe_matrix(*config.problem.mass, problem.n, *problem.mass_nnz));
  }
  if (problem.geometric_nnz) {
    line("K_g",
         describe_matrix(*config.problem.geometric_stiffness, problem.n, *problem.geometric_nnz));
  }
  const auto symmetrized = [&line](std::string_view name, const std::optional<double>& asymmetry) {
    if (!asymmetry) return;
    line("symmetrized", fmt::format("{0}: (i, j) and (j, i) differed by up to {1:.1e} of the "
                                    "largest entry",
                                    name, *asymmetry));
  };
  symmetrized("A", problem.asymmetry);
  symmetrized("B", problem.mass_asymmetry);
  symmetrized("K_g", problem.geometric_asymmetry);
  if (problem.constraints > 0) line("constraints", fmt::format("{} columns", problem.constraints));
  if (problem.initial_guess > 0) {
    line("initial guess", fmt::format("{} columns", problem.initial_guess));
  }
  line("solver", fmt::format("{}, block of {}, at most {} iterations", describe_solver(config),
                             problem.block_size, config.request.max_iterations));
  if (!config.method_reason.empty()) line("", "auto: " + config.method_reason);
  line("tolerance", describe_tolerance(config));
  if (config.request.method != SolverType::block_lanczos)
    line("preconditioner", problem.preconditioner);
  line("device",
       fmt::format("{}, {} precision{}", describe_device(problem), chosen(config, "", "precision"),
                   problem.device_note.empty() ? "" : " (" + problem.device_note + ")"));
  line("memory", fmt::format("about {} of {}", human_bytes(problem.estimated_bytes),
                             human_bytes(problem.available_bytes)));
  const std::string checkpoint = describe_checkpoint(config.request.checkpoint);
  if (!checkpoint.empty()) line("checkpoint", checkpoint);
  return text;
}

std::string result_table(const Solution& result, SolverType solver, TableStyle style) {
  constexpr std::size_t kWholeUpTo = 24;
  constexpr std::size_t kHead = 16;
  constexpr std::size_t kTail = 4;
  const Table table = table_of(result, solver, style);
  const auto count = static_cast<std::size_t>(result.count());
  std::string text = table.head;
  for (std::size_t i = 0; i < count; ++i) {
    if (count > kWholeUpTo && i == kHead) {
      fmt::format_to(std::back_inserter(text), "{:>5}  {:>{}}\n", "...",
                     fmt::format("{} more", count - kHead - kTail), table.width);
      i = count - kTail;
    }
    text += table.row(i);
  }
  return text + table.legend;
}

std::string profile_table(const Profile& profile) {
  PhaseTotals all;
  std::vector<std::pair<std::string_view, PhaseTotals>> rows;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const PhaseTotals& totals = profile[phase];
    if (totals.seconds > 0) rows.emplace_back(phase_name(phase), totals);
    all.seconds += totals.seconds;
    all.bytes += totals.bytes;
    all.flops += totals.flops;
  }
  rows.emplace_back("all", all);
  constexpr double kGiga = 1e9;
  std::string text = fmt::format("{:<16}{:>10}{:>9}{:>10}{:>9}{:>10}\n", "phase", "seconds",
                                 "share", "GB", "GB/s", "GFLOP/s");
  for (const auto& [name, totals] : rows) {
    const auto a_second = [seconds = totals.seconds](double amount) {
      return seconds > 0 ? amount / kGiga / seconds : 0;
    };
    fmt::format_to(std::back_inserter(text),
                   "{:<16}{:>10.4f}{:>7.1f} %{:>10.3f}{:>9.1f}{:>10.1f}\n", name, totals.seconds,
                   all.seconds > 0 ? 100 * totals.seconds / all.seconds : 0, totals.bytes / kGiga,
                   a_second(totals.bytes), a_second(totals.flops));
  }
  const Travel& travel = profile.travel();
  if (travel.seconds > 0) {
    fmt::format_to(std::back_inserter(text),
                   "halo travelled  {:>10.4f} s during other work, {:.3f} GB sent, {:.1f} GB/s\n",
                   travel.seconds, travel.bytes / kGiga, travel.bytes / kGiga / travel.seconds);
  }
  return text;
}

std::string summary_line(const Report& report, SolverType solver) {
  const Solution& result = report.result;
  return fmt::format("{}: {}; {:.2f} s, {}\n", status_name(result.status), result.reason,
                     report.result.solve_seconds, describe_effort(result, solver));
}

}  // namespace heddle::apps
