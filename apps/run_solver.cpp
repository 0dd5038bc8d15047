#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <heddle/apps/checkpoint.hpp>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/interrupt.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/progress.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/run_solver.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/drivers/memory.hpp>
#include <heddle/drivers/methods.hpp>
#include <heddle/drivers/preconditioner.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <utility>

namespace heddle::apps {
namespace {

constexpr std::string_view kResult = "result.json";
constexpr std::string_view kHistory = "history.csv";
/// The names of the files that a solver writes its vectors to.
struct VectorFiles {
  std::string_view mtx;
  std::string_view npy;
};
constexpr VectorFiles kEigenvectors = {"eigenvectors.mtx", "eigenvectors.npy"};
constexpr VectorFiles kLeftVectors = {"left_vectors.mtx", "left_vectors.npy"};
constexpr VectorFiles kRightVectors = {"right_vectors.mtx", "right_vectors.npy"};
constexpr VectorFiles kSolution = {"solution.mtx", "solution.npy"};

/// The names of all files that a run may write.
const std::vector<std::string_view> kOutputs = {
    kEigenvectors.npy, kEigenvectors.mtx, kLeftVectors.npy, kLeftVectors.mtx, kRightVectors.npy,
    kRightVectors.mtx, kSolution.npy,     kSolution.mtx,    kHistory,         kResult};

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

/// Prints and flushes, so that the text is shown even if a later step fails.
void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// The device that the configuration requests. Throws a `DeviceError` that names the key.
Device choose_device(const Config& config) {
  try {
    return Device(config.request.device, config.request.threads);
  } catch (const DeviceError& error) {
    throw DeviceError(origin_of(config, "device").describe() + ": " + error.what());
  }
}

ProblemFacts facts(Device& device, const Problem& input, const Request& request) {
  ProblemFacts problem;
  problem.n = input.order();
  problem.cols = input.A.cols();
  problem.nnz = input.nnz();
  if (input.B) problem.mass_nnz = input.B->nnz();
  problem.constraints = input.constraints.cols();
  problem.initial_guess = input.initial_guess.cols();
  problem.rhs = input.rhs.cols();
  problem.device = device.kind();
  problem.device_name = device.name();
  problem.device_note = device.note();
  problem.threads = device.host().threads();
  problem.block_size = detail::method_of(request, input.sizes()).block_size(request, input.sizes());
  problem.preconditioner = detail::describe_preconditioner(request, input);
  problem.available_bytes = device.memory_bytes();
  return problem;
}

void write_block(OutputFiles& files, const VectorFiles& names, const HostVectors& vectors,
                 Index count, VectorFormat format) {
  const bool npy = format == VectorFormat::npy;
  files.add(npy ? names.npy : names.mtx, [&](const std::filesystem::path& path) {
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

void write_vectors(OutputFiles& files, const Solution& solution, const Config& config) {
  const Index count = solution.count();
  const VectorFormat format = config.output.vectors;
  if (format == VectorFormat::none) return;
  if (finds_triplets(config)) {
    write_block(files, kLeftVectors, solution.left_vectors, count, format);
    write_block(files, kRightVectors, solution.vectors, count, format);
  } else {
    const VectorFiles& names = is_eigensolver(config.request.method) ? kEigenvectors : kSolution;
    write_block(files, names, solution.vectors, count, format);
  }
}

void write_results(OutputFiles& files, const Config& config, const Report& report) {
  write_vectors(files, report.result, config);
  if (config.output.history) {
    files.add(kHistory, [&](const std::filesystem::path& path) {
      write_text(path, history_csv(report.result.history));
    });
  }
  files.add(kResult, [&](const std::filesystem::path& path) {
    write_text(path, result_json(config, report));
  });
  files.commit(kOutputs);
}

/// Solves the problem with progress on stderr. A signal ends the solve early. If memory runs out,
/// the error also gives the estimated memory of the whole solve.
Solution solve(Device& device, Problem input, const Config& config, double estimated_bytes,
               ProgressStyle style, const InterruptScope& interrupt) {
  Progress progress(style);
  try {
    return with_named_sources(config, [&] {
      return detail::solve_prepared(device, std::move(input), config.request,
                                    [&](const MonitorState& state) {
                                      progress.show(state);
                                      return !interrupt.requested();
                                    });
    });
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(error.requested(), fmt::format("{}; the solve was estimated to need {:.0f}",
                                                     error.what(), estimated_bytes));
  }
}

ExitCode run(const CommandLine& line, SolverType solver, std::string_view name) {
  const Clock::time_point start = Clock::now();
  start_log(line.quiet);
  Config config = load_config(line.config, line.overrides, solver);
  if (line.print_config) print(to_yaml(config.effective));
  if (line.print_config && !line.validate) return ExitCode::converged;

  Device device = choose_device(config);
  with_named_sources(config, [&] { detail::check_kernel(device, config.request); });
  check_output_directory(config.output.directory);
  Problem input = load_problem(device.host(), config);
  const detail::MemoryEstimate memory =
      detail::estimate_memory(input, config.request, !device.is_host());
  Report report;
  report.problem = facts(device, input, config.request);
  report.problem.estimated_bytes = memory.device;
  report.seconds.load = seconds_since(start);
  prepare_checkpoint(config, line.resume, input, report.problem, kOutputs);
  detail::check_memory(memory, config.request, device);
  const std::string description = describe_problem(config, report.problem);
  if (line.validate) {
    print(fmt::format("{} is valid and asks for\n{}", line.config.string(), description));
    return ExitCode::converged;
  }
  OutputFiles files(config.output.directory);
  spdlog::info("{} {}\n{}", name, kVersions.heddle, description);
  const InterruptScope interrupt;
  report.result =
      solve(device, std::move(input), config, memory.device, progress_style(line.quiet), interrupt);
  report.seconds.total = seconds_since(start);
  // The results are printed before any file is written, because writing may fail.
  print(result_table(report.result, solver) + summary_line(report, solver));
  if (line.profile) print(profile_table(report.result.profile));
  write_results(files, config, report);
  print(fmt::format("results in {}\n", config.output.directory.string()) +
        checkpoint_hint(config.request.checkpoint));
  return exit_code(report.result.status);
}

}  // namespace

int run_solver(int argc, const char* const* argv, SolverType solver, std::string_view name,
               std::string_view description) {
  install_signal_handlers();
  return run_reporting_failures(name, [&] {
    const auto line = parse_command_line(argc, argv, solver, name, description);
    return line ? run(*line, solver, name) : ExitCode::converged;
  });
}

}  // namespace heddle::apps
