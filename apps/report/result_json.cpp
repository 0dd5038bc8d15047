#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <heddle/apps/config/json.hpp>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/report/levels.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/apps/version.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace heddle::apps {
namespace {

using Json = nlohmann::ordered_json;

/// Counts changes of `result.json` after which a program that reads it must be changed.
constexpr int kSchemaVersion = 1;

/// A number of bytes, which the estimates hold as a real number.
Json bytes_json(double bytes) {
  constexpr double kMost = 9e18;
  return bytes >= 0 && bytes < kMost ? Json(std::llround(bytes)) : Json(nullptr);
}

Json phases_json(const Profile& profile) {
  Json phases = Json::object();
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const PhaseTotals& totals = profile[phase];
    phases[std::string(phase_name(phase))] = {
        {"seconds", totals.seconds}, {"bytes", bytes_json(totals.bytes)}, {"flops", totals.flops}};
  }
  return phases;
}

Json travel_json(const Travel& travel) {
  return {{"seconds", travel.seconds}, {"bytes", bytes_json(travel.bytes)}};
}

Json seconds_json(const Report& report) {
  const auto phase = [&report](Phase p) { return report.result.profile[p].seconds; };
  return {{"total", report.seconds.total},
          {"load", report.seconds.load},
          {"setup", report.result.setup_seconds},
          {"solve", report.result.solve_seconds},
          {"spmm", phase(Phase::spmm)},
          {"dense", phase(Phase::orthogonalize) + phase(Phase::rayleigh_ritz) +
                        phase(Phase::update) + phase(Phase::residual)},
          {"preconditioner", phase(Phase::preconditioner)},
          {"verify", phase(Phase::verify)}};
}

Json orthogonalization_json(const OrthoCounts& counts) {
  return {{"cholqr", counts.cholqr},
          {"cholqr2", counts.cholqr2},
          {"shifted_cholqr3", counts.shifted},
          {"svqb", counts.svqb},
          {"dropped_columns", counts.dropped}};
}

/// The peak resident set size of the process so far. On Linux, getrusage also counts the process
/// that started this one, between fork and exec, so VmHWM comes first.
double process_peak_bytes() {
  constexpr double kKiB = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * kKiB;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * kKiB;
}

Json memory_json(const Report& report) {
  return {{"estimated_bytes", bytes_json(report.problem.estimated_bytes)},
          {"peak_bytes", report.result.peak_bytes},
          {"peak_bytes_most", report.result.peak_bytes_most},
          {"process_peak_bytes", bytes_json(process_peak_bytes())}};
}

Json problem_json(const Config& config, const ProblemFacts& problem) {
  Json json = {
      {"matrix", config.problem.matrix.describe()}, {"n", problem.n}, {"nnz", problem.nnz}};
  if (problem.complex) json["complex"] = true;
  if (uses_transpose(config)) json["cols"] = problem.cols;
  if (problem.mass_nnz) {
    json["mass"] = config.problem.mass->describe();
    json["mass_nnz"] = *problem.mass_nnz;
  }
  if (problem.geometric_nnz) {
    json["geometric_stiffness"] = config.problem.geometric_stiffness->describe();
    json["geometric_stiffness_nnz"] = *problem.geometric_nnz;
  }
  if (problem.asymmetry) json["asymmetry"] = *problem.asymmetry;
  if (problem.mass_asymmetry) json["mass_asymmetry"] = *problem.mass_asymmetry;
  if (problem.geometric_asymmetry) {
    json["geometric_stiffness_asymmetry"] = *problem.geometric_asymmetry;
  }
  if (!is_eigensolver(config.request.method)) {
    json["rhs"] = config.problem.rhs.describe();
    json["right_hand_sides"] = problem.rhs;
  }
  json["constraints"] = problem.constraints;
  json["initial_guess"] = problem.initial_guess;
  return json;
}

/// Adds all results of the solve except the vectors. `converged` has one entry per row of them.
void add_accuracy(Json& json, const Config& config, const Solution& result) {
  if (is_eigensolver(config.request.method)) {
    json["eigenvalues"] = result.eigenvalues;
    if (result.null_vectors > 0) json["null_vectors"] = result.null_vectors;
    if (config.problem.mass) json["infinite_eigenvalues"] = result.infinite_eigenvalues;
    if (finds_triplets(config)) json["singular_values"] = result.singular_values;
    if (!result.frequencies.empty()) json["frequencies"] = result.frequencies;
    json["residuals"] = result.residuals;
    json["error_bounds"] = result.error_bounds;
    json["limited_by_rounding"] = result.limited_by_rounding;
    if (config.request.interval) json["straddles"] = result.straddles;
    json["completeness"] = {{"method", result.completeness.name()},
                            {"proven", result.completeness.proven}};
    json["orthogonality"] = result.orthogonality;
  } else if (solves_least_squares(config)) {
    json["residuals"] = result.residuals;
    json["residual_norms"] = result.residual_norms;
  } else {
    json["matrix_passes"] = result.matrix_passes;
    json["residuals"] = result.residuals;
    json["backward_errors"] = result.backward_errors;
    json["error_estimates"] = result.error_estimates;
  }
  json["converged"] = result.converged;
}

Json inputs_json(const std::vector<InputSum>& inputs) {
  Json list = Json::array();
  for (const InputSum& input : inputs) {
    list.push_back({{"key", input.key},
                    {"file", input.path.string()},
                    {"bytes", input.bytes},
                    {"crc32", fmt::format("{:08x}", input.crc32)}});
  }
  return list;
}

Json choices_json(const std::vector<PlannedChoice>& choices) {
  Json list = Json::array();
  for (const PlannedChoice& choice : choices) {
    list.push_back({{"name", choice.name}, {"value", choice.value}, {"reason", choice.reason}});
  }
  return list;
}

Json run_json(const RunFacts& run) {
  return {{"started", run.started},
          {"host", run.host},
          {"cpu", run.processor},
          {"current_folder", run.folder},
          {"command_line", run.command}};
}

Json versions_json() {
  const auto or_null = [](std::string_view text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"heddle", kVersions.heddle},
          {"commit", or_null(kVersions.commit)},
          {"compiler", kVersions.compiler},
          {"build_type", kVersions.build_type},
          {"eigen", kVersions.eigen}};
}

/// The first keys of every `result.json`.
Json head_json(std::string_view status, std::string_view reason, ExitCode code) {
  return {{"schema_version", kSchemaVersion},
          {"status", status},
          {"reason", reason},
          {"exit_code", static_cast<int>(code)}};
}

/// File names and command lines may contain invalid UTF-8, which JSON does not allow.
std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string failure_json(const Config& config, const Report& report, const Failure& failure) {
  Json json = head_json("error", failure.message, failure.code);
  json["solver"] = method_name(config.request.method);
  json["inputs"] = inputs_json(report.inputs);
  json["versions"] = versions_json();
  json["run"] = run_json(report.run);
  json["configuration"] = to_json(config.effective);
  return to_text(json);
}

std::string plan_json(const SolvePlan& plan) {
  return to_text({{"schema_version", kSchemaVersion},
                  {"method", plan.method},
                  {"plan", choices_json(plan.choices())},
                  {"memory",
                   {{"device_bytes", bytes_json(plan.device_bytes)},
                    {"host_bytes", bytes_json(plan.host_bytes)}}}});
}

std::string result_json(const Config& config, const Report& report) {
  const Solution& result = report.result;
  const ProblemFacts& problem = report.problem;
  Json json = head_json(status_name(result.status), result.reason, exit_code(result.status));
  json["solver"] = method_name(config.request.method);
  const std::string& solver_reason =
      result.method_reason.empty() ? config.method_reason : result.method_reason;
  if (!solver_reason.empty()) json["solver_reason"] = solver_reason;
  json["device"] = problem.device;
  json["precision"] = config.effective.find("precision")->text;
  json["n"] = problem.n;
  json["nnz"] = problem.nnz;
  json["iterations"] = result.iterations;
  json["operator_applications"] = result.operator_applications;
  if (config.request.method == SolverType::block_lanczos) {
    json["inverse_applications"] = result.inverse_applications;
    json["factor_library"] = result.factor_library;
  }
  json["spmm_kernel"] = report.result.spmm_kernel;
  json["spmm_reason"] = report.result.spmm_reason;
  json["row_order"] = result.row_order;
  json["row_order_reason"] = result.row_order_reason;
  json["seconds"] = seconds_json(report);
  add_accuracy(json, config, result);
  json["problem"] = problem_json(config, problem);
  json["block_size"] = problem.block_size;
  json["preconditioner"] =
      result.preconditioner_name.empty() ? problem.preconditioner : result.preconditioner_name;
  if (!result.preconditioner_precision.precision.empty()) {
    json["preconditioner_precision"] = result.preconditioner_precision.precision;
    json["preconditioner_precision_reason"] = result.preconditioner_precision.reason;
  }
  if (result.preconditioner_strength > 0) {
    json["preconditioner_strength"] = result.preconditioner_strength;
  }
  json["preconditioner_setup"] = {{"seconds", report.result.preconditioner.seconds},
                                  {"bytes", report.result.preconditioner.bytes}};
  if (!result.preconditioner_reason.empty()) {
    json["preconditioner_reason"] = result.preconditioner_reason;
  }
  if (!result.preconditioner_levels.empty()) {
    json["preconditioner_setup"].update(levels_json(result.preconditioner_levels));
  }
  json["device_name"] = problem.device_name;
  json["device_note"] = problem.device_note;
  json["threads"] = problem.threads;
  json["processes"] = problem.processes;
  json["gpus"] = problem.gpus;
  json["phases"] = phases_json(report.result.profile);
  json["distribution"] = report.result.distribution;
  json["halo_travel"] = travel_json(report.result.profile.travel());
  json["orthogonalization"] = orthogonalization_json(result.orthogonalization);
  json["memory"] = memory_json(report);
  json["plan"] = choices_json(report.plan);
  json["inputs"] = inputs_json(report.inputs);
  json["versions"] = versions_json();
  json["run"] = run_json(report.run);
  json["configuration"] = to_json(config.effective);
  return to_text(json);
}

}  // namespace heddle::apps
