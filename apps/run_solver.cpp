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
#include <heddle/apps/method_choice.hpp>
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
constexpr std::string_view kStandardOutput = "-";
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

void start_log(const CommandLine& line) {
  auto log = spdlog::stderr_logger_st("heddle");
  log->set_pattern("%v");
  log->set_level(line.quiet     ? spdlog::level::err
                 : line.verbose ? spdlog::level::debug
                                : spdlog::level::info);
  spdlog::set_default_logger(std::move(log));
}

/// Prints and flushes, so that the text is shown even if a later step fails.
void print(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// Prints text for people. It goes to stdout, or to stderr where stdout is for JSON, and then only
/// unless the run is quiet.
void print(const CommandLine& line, const std::string& text) {
  if (line.json != kStandardOutput) return print(stdout, text);
  if (!line.quiet) print(stderr, text);
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

/// Writes all results. `json`: the text of result.json.
void write_results(OutputFiles& files, const Config& config, const Report& report,
                   const std::string& json) {
  write_vectors(files, report.result, config);
  if (config.output.history) {
    files.add(kHistory, [&](const std::filesystem::path& path) {
      write_text(path, history_csv(report.result.history));
    });
  }
  files.add(kResult, [&](const std::filesystem::path& path) { write_text(path, json); });
  files.commit(kOutputs);
}

/// What -v adds to the log after a solve.
std::string describe_run(const Solution& result, const StageSeconds& seconds) {
  return fmt::format(
      "  kernel          {} ({})\n  seconds         load {:.3f}, setup {:.3f}, solve {:.3f}",
      result.spmm_kernel, result.spmm_reason, seconds.load, result.setup_seconds,
      result.solve_seconds);
}

/// Solves the problem with progress on stderr. A signal ends the solve early. If memory runs out,
/// the error also gives the estimated memory of the whole solve.
Solution solve(Device& device, Problem input, const SettledMethod& method, double estimated_bytes,
               ProgressStyle style, const InterruptScope& interrupt) {
  Progress progress(style);
  try {
    return with_named_sources(method.config, [&] {
      return detail::solve_prepared(device, std::move(input), method.choice,
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

ExitCode run(const CommandLine& line, const SolverProgram& program) {
  const Clock::time_point start = Clock::now();
  start_log(line);
  const Config asked = load_config(line.subject, line.settings, line.overrides, program.solver);
  if (line.print_config) print(stdout, to_yaml(asked.effective));
  if (line.print_config && !line.validate) return ExitCode::converged;

  Device device = choose_device(asked);
  with_named_sources(asked, [&] { detail::check_kernel(device, asked.request); });
  check_output_directory(asked.output.directory);
  Problem input = read_problem(device.host(), asked);
  const SettledMethod method = with_method(device.host(), asked, input);
  const Config& config = method.config;
  prepare_problem(device.host(), input, config);
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
    print(stdout, fmt::format("{} is valid and asks for\n{}", line.subject, description));
    return ExitCode::converged;
  }
  OutputFiles files(config.output.directory);
  spdlog::info("{} {}\n{}", program.name, kVersions.heddle, description);
  spdlog::debug("configuration:\n{}", to_yaml(config.effective));
  const InterruptScope interrupt;
  report.result =
      solve(device, std::move(input), method, memory.device, progress_style(line.quiet), interrupt);
  report.seconds.total = seconds_since(start);
  // The results are printed before any file is written, because writing may fail.
  const SolverType solver = config.request.method;
  print(line, result_table(report.result, solver) + summary_line(report, solver));
  if (line.profile) print(line, profile_table(report.result.profile));
  spdlog::debug(describe_run(report.result, report.seconds));
  const std::string json = result_json(config, report);
  if (line.json == kStandardOutput) print(stdout, json);
  write_results(files, config, report, json);
  if (!line.json.empty() && line.json != kStandardOutput) write_text(line.json, json);
  print(line, fmt::format("results in {}\n", config.output.directory.string()) +
                  checkpoint_hint(config.request.checkpoint));
  return exit_code(report.result.status);
}

}  // namespace

int run_solver(int argc, const char* const* argv, const SolverProgram& program) {
  install_signal_handlers();
  return run_reporting_failures(program.name, [&] {
    const auto line = parse_command_line(argc, argv, program);
    return line ? run(*line, program) : ExitCode::converged;
  });
}

}  // namespace heddle::apps
