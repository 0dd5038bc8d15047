#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <heddle/apps/checkpoint.hpp>
#include <heddle/apps/command_line.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/interrupt.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/apps/progress.hpp>
#include <heddle/apps/report/history_files.hpp>
#include <heddle/apps/report/levels.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/report/replaced.hpp>
#include <heddle/apps/report/result_files.hpp>
#include <heddle/apps/run_log.hpp>
#include <heddle/apps/run_solver.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/team_calls.hpp>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/time_slice.hpp>
#include <optional>
#include <span>
#include <utility>

namespace heddle::apps {
namespace {

constexpr std::string_view kStandardOutput = "-";

/// Prints and flushes, so that the text is shown even if a later step fails.
void print(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// Prints text for people, and writes it to the log file. It goes to stdout, or to stderr where
/// stdout is for JSON, and then only unless the run is quiet.
void print(const CommandLine& line, const std::string& text) {
  spdlog::trace(text.substr(0, text.find_last_not_of('\n') + 1));
  if (line.json != kStandardOutput) return print(stdout, text);
  if (!line.quiet) print(stderr, text);
}

/// Prints the table of results like other text. On a terminal, certain digits are bold.
void print_table(const CommandLine& line, const Config& config, const Solution& result) {
  const SolverType solver = config.request.method;
  TableStyle style{config.output.unit};
  if (config.problem.geometric_stiffness) style.eigenvalue = "load factor";
  const std::string plain = result_table(result, solver, style);
  const bool on_stderr = line.json == kStandardOutput;
  style.bold = shows_bold(on_stderr ? STDERR_FILENO : STDOUT_FILENO);
  if (!style.bold || (on_stderr && line.quiet)) return print(line, plain);
  spdlog::trace(plain.substr(0, plain.size() - 1));
  print(on_stderr ? stderr : stdout, result_table(result, solver, style));
}

/// The device that the configuration requests. Throws a `DeviceError` that names the key.
Device choose_device(const Config& config, const std::shared_ptr<Processes>& processes) {
  try {
    return device_for(config.request, processes);
  } catch (const DeviceError& error) {
    const std::string_view key = config.request.devices == 1 ? "device" : "devices";
    throw DeviceError(origin_of(config, key).describe() + ": " + error.what());
  } catch (const RequestError& error) {
    throw ConfigError(origin_of(config, error.field()), error.what());
  }
}

template <Scalar T>
ProblemFacts facts(Device& device, const HostProblem<T>& input, const SolvePlan& plan) {
  ProblemFacts problem;
  problem.complex = kComplex<T>;
  problem.n = input.A.rows();
  problem.cols = input.A.cols();
  problem.nnz = input.A.nnz();
  if (input.B) problem.mass_nnz = input.B->nnz();
  if (input.geometric_stiffness) problem.geometric_nnz = input.geometric_stiffness->nnz();
  problem.constraints = input.constraints.cols();
  problem.initial_guess = input.initial_guess.cols();
  problem.rhs = input.rhs.cols();
  problem.device = device.kind();
  problem.device_name = device.name();
  problem.device_note = device.note();
  problem.threads = device.host().threads();
  problem.gpus = device.gpus();
  problem.processes = problem.gpus > 1 ? 1 : device.processes();
  problem.block_size = plan.block_size;
  problem.preconditioner = plan.preconditioner;
  problem.estimated_bytes = plan.device_bytes;
  problem.available_bytes = device.memory_bytes();
  return problem;
}

/// The lines that -v adds to the log after a solve.
std::string describe_run(const Solution& result, const StageSeconds& seconds) {
  const std::string rows =
      result.distribution.empty() ? "" : "  distribution    " + result.distribution + "\n";
  return fmt::format(
      "  kernel          {} ({})\n{}  seconds         load {:.3f}, setup {:.3f}, solve {:.3f}",
      result.spmm_kernel, result.spmm_reason, rows, seconds.load, result.setup_seconds,
      result.solve_seconds);
}

/// The facts of a run for the report on its end.
struct Run {
  const CommandLine& line;
  std::string_view name;  // of the program
  Clock::time_point start;
  Together& together;
  Config config;  // with the method that suits the problem, once that is known
  Progress& progress;
  Report report{};
  std::optional<OutputFiles> files{};  // from the time on when all inputs are known to be usable
  std::string replaced{};              // what earlier results in the folder are of
};

/// Solves the problem with progress on stderr and in the files of the history. A signal ends the
/// solve early. If memory runs out, the error also gives the estimated memory of the whole solve.
template <Scalar T>
Solution solve(Run& run, Device& device, HostProblem<T> input, const SolvePlan& plan) {
  const Config& config = run.config;
  HistoryFiles history(run.files->directory(), config.output.history);
  const InterruptScope interrupt(config.request.checkpoint.file);
  Monitor monitor = [&](const MonitorState& state) {
    run.progress.show(state);
    if (!history.add(state)) {
      run.progress.clear();
      spdlog::error("warning: the history cannot be written while the solve goes on");
    }
    return true;
  };
  monitor.stop = [&] { return interrupt.requested(); };
  monitor.stage = [&](std::string_view stage) { run.progress.begin_stage(stage); };
  try {
    run.together.solving = true;  // stays so if the solve fails
    Solution solution = with_named_sources(config, [&] {
      return detail::run_keeping_vectors(device, std::move(input), plan, monitor);
    });
    run.together.solving = false;
    history.add_result(solution.iterations, solution.eigenvalues, solution.residuals);
    return solution;
  } catch (const OutOfMemory& error) {
    throw OutOfMemory(error.requested(),
                      fmt::format("{}; the solve was estimated to need {:.0f}", error.what(),
                                  run.report.problem.estimated_bytes));
  }
}

/// Throws if the file that --json names can certainly not be written.
void check_json_file(const std::string& json) {
  if (json.empty() || json == kStandardOutput) return;
  const std::filesystem::path folder = std::filesystem::absolute(json).parent_path();
  std::error_code unknown;
  if (!std::filesystem::is_directory(folder, unknown)) {
    throw InputError(json, 0, "cannot be written: there is no folder " + folder.string());
  }
  check_output_directory(folder);
}

/// Prints or writes the content of result.json as --json asks.
void give_json(const CommandLine& line, const std::string& json) {
  if (line.json == kStandardOutput) {
    print(stdout, json);
  } else if (!line.json.empty()) {
    write_text(line.json, json);
  }
}

/// Prints and writes the results. They are printed before any file is written, because writing may
/// fail.
void report_results(Run& run, Device& device) {
  const CommandLine& line = run.line;
  const Report& report = run.report;
  const SolverType solver = run.config.request.method;
  print_table(line, run.config, report.result);
  print(line, summary_line(report, solver));
  if (line.profile) print(line, profile_table(report.result.profile));
  if (line.profile && !report.result.preconditioner_levels.empty()) {
    print(line, levels_table(report.result.preconditioner_levels));
  }
  spdlog::debug(describe_run(report.result, report.seconds));
  const std::string json = result_json(run.config, report);
  write_results(*run.files, device, run.config, report, json);
  give_json(line, json);
  const std::string folder = run.config.output.directory.string();
  const std::string results =
      run.replaced.empty()
          ? fmt::format("results in {}\n", folder)
          : fmt::format("results in {}, replacing those of {}\n", folder, run.replaced);
  print(line, results + checkpoint_hint(run.config.request.checkpoint));
}

/// The rows of this process where the processes make their own rows of all matrices, else an empty
/// problem.
Problem rows_of_processes(Run& run, Device& device) {
  const auto matrices = matrices_by_rows(run.config);
  if (!matrices || device.processes() == 1) return {};
  run.together.solving = true;  // stays so if a process fails
  Problem problem = detail::own_rows_of(device, *matrices, run.config.request).value_or(Problem{});
  run.together.solving = false;
  return problem;
}

/// The configuration with the method of `plan`. Warns about keys that have no effect with it.
Config with_method(const Config& config, const SolvePlan& plan) {
  const bool open = config.request.method == Method::automatic;
  Config settled = open ? settle_method(config, plan.request.method, plan.method_reason) : config;
  for (const std::string& key : settled.unused) {
    spdlog::warn("{} has no effect: solver.type: auto takes {}", key,
                 method_name(settled.request.method));
  }
  return settled;
}

/// Adds the frequencies of one matrix, the mass of whose degrees of freedom is 1, if the user named
/// a unit. Those of a pencil are there.
void add_frequencies(const Config& config, Solution& result) {
  if (!is_named(config.output.unit) || !result.frequencies.empty()) return;
  for (const double lambda : result.eigenvalues) result.frequencies.push_back(frequency_of(lambda));
}

/// Loads the problem, whose matrices and blocks have entries of type T, plans its solve, and solves
/// it.
template <Scalar T>
ExitCode carry_out(Run& run, Device& device) {
  Report& report = run.report;
  run.progress.begin_stage("loading " + run.config.problem.matrix.describe());
  RemovedAsymmetry asymmetry;
  HostProblem<T> begun;
  if constexpr (RealScalar<T>) begun = rows_of_processes(run, device);
  auto input = read_problem<T>(device.host(), run.config, std::move(begun), &asymmetry);
  Monitor checks;  // without `stop`: a signal ends the process until the solve begins
  checks.stage = [&](std::string_view stage) { run.progress.begin_stage(stage); };
  SolvePlan plan = with_named_sources(
      run.config, [&] { return heddle::plan(device, input, run.config.request, checks); });
  Config& config = run.config = with_method(run.config, plan);
  report.inputs = input_sums(config);
  report.problem = facts(device, input, plan);
  report.problem.asymmetry = asymmetry.matrix;
  report.problem.mass_asymmetry = asymmetry.mass;
  report.problem.geometric_asymmetry = asymmetry.geometric_stiffness;
  report.seconds.load = seconds_since(run.start);
  prepare_checkpoint(config, run.line.resume, input, report.problem, result_file_names());
  plan = detail::with_checkpoint(plan, config.request.checkpoint);
  const std::string description = describe_problem(config, report.problem);
  run.progress.clear();
  if (run.line.validate) {
    print(stdout, fmt::format("{} is valid and asks for\n{}", run.line.subject, description));
    return ExitCode::converged;
  }
  report.plan = plan.choices();
  if (run.line.plan) {
    if (run.line.json != kStandardOutput) print(stdout, describe_plan(report.plan));
    give_json(run.line, plan_json(plan));
    return ExitCode::converged;
  }
  run.replaced = describe_replaced(config.output.directory, config, report.inputs);
  run.files.emplace(config.output.directory);
  run.files->start(result_file_names());
  spdlog::info("{} {}\n{}", run.name, kVersions.heddle, description);
  spdlog::debug("configuration:\n{}", to_yaml(config.effective));
  report.result = solve(run, device, std::move(input), plan);
  add_frequencies(config, report.result);
  run.progress.clear();
  report.seconds.total = seconds_since(run.start);
  report_results(run, device);
  return exit_code(report.result.status);
}

ExitCode carry_out(Run& run) {
  const bool complex = is_complex(run.config);
  run.progress.begin_stage("looking for a device");
  Device device = choose_device(run.config, run.together.processes);
  check_output_directory(run.config.output.directory);
  check_json_file(run.line.json);
  return complex ? carry_out<std::complex<double>>(run, device) : carry_out<double>(run, device);
}

/// Whether a run that cannot read its input would make a folder that nobody has asked for.
bool would_make_default_folder(const Run& run, const Failure& failure) {
  const ConfigNode* output = run.config.given.find("output");
  const bool named = output != nullptr && output->find("directory") != nullptr;
  std::error_code unknown;
  return failure.code == ExitCode::input && !run.files && !named &&
         !std::filesystem::exists(run.config.output.directory, unknown);
}

/// Writes what is known of a run that failed, where the output folder can be written. A wrong
/// configuration leaves no files, because it may name the wrong folder.
void report_failure(Run& run, const Failure& failure) noexcept {
  run.progress.clear();
  try {
    spdlog::trace("error: {}", failure.message);
    if (failure.code == ExitCode::usage || run.line.validate) return;
    if (run.report.inputs.empty()) run.report.inputs = input_sums(run.config);
    give_json(run.line, failure_json(run.config, run.report, failure));
    if (would_make_default_folder(run, failure)) return;
    if (!run.files) run.files.emplace(run.config.output.directory);
    write_failure(*run.files, run.config, run.report, failure);
  } catch (...) {  // the failure itself is reported on stderr by the caller
  }
}

ExitCode run(const CommandLine& line, const SolverProgram& program, RunFacts facts,
             Together& together) {
  const Clock::time_point start = Clock::now();
  start_log(line.quiet, line.verbose);
  Config asked = load_config(line.subject, line.settings, line.overrides, program.solver);
  if (line.print_config) print(stdout, to_yaml(asked.effective));
  if (line.print_config && !line.validate) return ExitCode::converged;
  Progress progress(progress_style(line.quiet));
  Run run{line, program.name, start, together, std::move(asked), progress};
  run.report.run = std::move(facts);
  try {
    if (!run.config.output.log.empty() && !line.validate) add_log_file(run.config.output.log);
    return carry_out(run);
  } catch (...) {
    report_failure(run, describe_failure(std::current_exception()));
    throw;
  }
}

}  // namespace

int run_solver(int argc, const char* const* argv, const SolverProgram& program) {
  install_signal_handlers();
  detail::shorten_time_slice();
  const std::span arguments(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0)));
  return run_together(program.name, arguments, [&](Together& together) {
    const auto words = static_cast<int>(std::count(program.name.begin(), program.name.end(), ' '));
    const auto line = parse_command_line(argc - words, argv + words, program);
    return line ? run(*line, program, run_facts(argc, argv), together) : ExitCode::converged;
  });
}

}  // namespace heddle::apps
