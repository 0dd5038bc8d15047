#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/apps/eigen_solve.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/interrupt.hpp>
#include <heddle/apps/memory.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/apps/progress.hpp>
#include <heddle/apps/report/npy.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/run_eigensolver.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/matrix_market.hpp>
#include <utility>

namespace heddle::apps {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void start_log(bool quiet) {
  auto log = spdlog::stderr_logger_st("heddle");
  log->set_pattern("%v");
  log->set_level(quiet ? spdlog::level::err : spdlog::level::info);
  spdlog::set_default_logger(std::move(log));
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void check_device(const Config& config) {
  if (config.device != DeviceChoice::cuda) return;
  throw DeviceError(origin_of(config, "device").describe() +
                    ": device is cuda, but the solvers of this build run on the CPU only; "
                    "use device: auto or host");
}

ProblemFacts facts(const HostContext& context, const EigenInput<double>& input,
                   const Config& config) {
  ProblemFacts problem;
  problem.n = input.order();
  problem.nnz = input.nnz();
  if (input.B) problem.mass_nnz = input.B->nnz();
  problem.constraints = input.constraints.cols();
  problem.initial_guess = input.initial_guess.cols();
  problem.device = "host";
  if (config.device == DeviceChoice::automatic) {
    problem.device_note = "auto: the solvers of this build run on the CPU";
  }
  problem.threads = context.threads();
  problem.block_size = lobpcg_block_size(config.solver, problem.n, problem.constraints);
  problem.preconditioner = plan_preconditioner(config, input.B.has_value()).describe();
  problem.estimated_bytes = estimated_bytes(input, config);
  return problem;
}

void write_vectors(OutputFiles& files, const HostVectors& vectors, Index count,
                   VectorFormat format) {
  if (format == VectorFormat::none) return;
  const bool npy = format == VectorFormat::npy;
  files.add(npy ? "eigenvectors.npy" : "eigenvectors.mtx", [&](const std::filesystem::path& path) {
    std::visit(
        [&](const auto& X) {
          const auto wanted = X.columns(0, count);
          if (npy) {
            write_npy(path, wanted);
          } else {
            write_matrix_market(path, wanted);
          }
        },
        vectors);
  });
}

void write_results(OutputFiles& files, const Config& config, const EigenReport& report,
                   const HostVectors& vectors) {
  write_vectors(files, vectors, static_cast<Index>(report.result.eigenvalues.size()),
                config.output.eigenvectors);
  if (config.output.history) {
    files.add("history.csv", [&](const std::filesystem::path& path) {
      write_text(path, history_csv(report.result.history));
    });
  }
  files.add("result.json", [&](const std::filesystem::path& path) {
    write_text(path, result_json(config, report));
  });
  files.commit();
}

/// Solves the problem and writes and prints what comes out.
template <class Ctx>
ExitCode solve_and_report(Ctx& context, EigenInput<double> input, const Config& config,
                          EigenReport report, OutputFiles& files, Clock::time_point start,
                          ProgressStyle style) {
  const InterruptScope interrupt;
  context.profile().reset();
  EigenSolution solution;
  {
    Progress progress(style);
    solution =
        solve_eigenproblem(context, std::move(input), config, [&](const MonitorState& state) {
          progress.show(state);
          return !interrupt.requested();
        });
  }
  context.synchronize();
  report.result = std::move(solution.result);
  report.spmm_kernel = solution.spmm_kernel;
  report.spmm_reason = solution.spmm_reason;
  report.seconds.setup = solution.setup_seconds;
  report.seconds.solve = solution.solve_seconds;
  report.seconds.total = seconds_since(start);
  report.profile = context.profile();
  report.peak_bytes = context.allocation_count().peak_bytes;
  write_results(files, config, report, solution.eigenvectors);
  print(eigenvalue_table(report.result) + summary_line(config, report));
  return exit_code(report.result.status);
}

ExitCode run(const CommandLine& line, SolverType solver, std::string_view name) {
  const Clock::time_point start = Clock::now();
  start_log(line.quiet);
  const Config config = load_config(line.config, line.overrides, solver);
  if (line.print_config) print(to_yaml(config.effective));
  if (line.print_config && !line.validate) return ExitCode::converged;

  check_device(config);
  check_output_directory(config.output.directory);
  HostContext context(config.threads);
  EigenInput<double> input = load_problem(context, config);
  EigenReport report;
  report.problem = facts(context, input, config);
  report.seconds.load = seconds_since(start);
  check_memory(report.problem.estimated_bytes);
  const std::string description = describe_problem(config, report.problem);
  if (line.validate) {
    print(fmt::format("{} is valid and asks for\n{}", line.config.string(), description));
    return ExitCode::converged;
  }
  OutputFiles files(config.output.directory);
  spdlog::info("{} {}\n{}", name, kVersions.heddle, description);
  return solve_and_report(context, std::move(input), config, std::move(report), files, start,
                          progress_style(line.quiet));
}

}  // namespace

int run_eigensolver(int argc, const char* const* argv, SolverType solver, std::string_view name,
                    std::string_view description) {
  install_signal_handlers();
  return run_reporting_failures(name, [&] {
    const auto line = parse_command_line(argc, argv, solver, name, description);
    return line ? run(*line, solver, name) : ExitCode::converged;
  });
}

}  // namespace heddle::apps
