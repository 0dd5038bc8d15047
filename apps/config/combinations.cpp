#include <fmt/format.h>

#include <heddle/apps/config/combinations.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::apps {
namespace {

/// A key that is excluded by another setting, and whether the user gave it a value.
struct Excluded {
  std::string path;
  bool given;
};

/// Throws if the user gave one of `keys`, because `what` does not accept them.
void exclude(const Config& config, std::string_view what, std::initializer_list<Excluded> keys) {
  for (const Excluded& key : keys) {
    if (!key.given) continue;
    throw ConfigError(origin_of(config, key.path),
                      fmt::format("{} does not go with {}", key.path, what));
  }
}

/// The sizes of the problem that follow from the configuration alone.
ProblemSizes known_sizes(const Config& config) {
  return {.pencil = config.problem.mass.has_value(), .normal_equations = uses_transpose(config)};
}

/// The preconditioner that the configuration names, null for auto and none.
const PreconditionerKind* named_preconditioner(const Config& config) {
  return preconditioner_table().find(config.request.preconditioner.type);
}

/// Does not cover AᵀA as an operator. `check_triplets` and `check_least_squares` check that case.
void check_preconditioner(const Config& config) {
  const PreconditionerKind* named = named_preconditioner(config);
  if (named == nullptr || !is_eigensolver(config.request.method)) return;
  ProblemSizes sizes = known_sizes(config);
  sizes.normal_equations = false;
  const std::string reason =
      named->unsuitable(detail::preconditioned_problem(config.request, sizes));
  if (reason.empty()) return;
  throw ConfigError(origin_of(config, "solver.preconditioner.type"),
                    fmt::format("solver.preconditioner.type: {} {}", named->name, reason));
}

/// Rejects options of other preconditioners than the chosen one, because they would have no effect.
void check_preconditioner_options(const Config& config) {
  PreconditionerRequest asked = config.request.preconditioner;
  const OptionValues given = std::exchange(asked.options, {});
  if (given.empty()) return;
  const detail::PreconditionerPlan plan = detail::plan_preconditioner(
      asked, detail::preconditioned_problem(config.request, known_sizes(config)));
  const OptionValues& known = plan.options.values();
  for (const auto& [name, value] : given) {
    exclude(config,
            fmt::format("solver.preconditioner.type: {}{}",
                        asked.type == "auto" ? "auto, which is " : "", plan.name()),
            {{"solver.preconditioner." + name, !known.contains(name)}});
  }
}

/// Rejects what only some preconditioners read where another one is named.
void check_near_null(const Config& config) {
  const auto exclude_both = [&](std::string_view what) {
    exclude(config, what,
            {{"problem.coordinates", !config.problem.coordinates.empty()},
             {"problem.near_null", !config.problem.near_null.empty()}});
  };
  if (uses_transpose(config)) return exclude_both("transform: normal_equations");
  const std::string& type = config.request.preconditioner.type;
  const PreconditionerKind* named = named_preconditioner(config);
  const bool takes = named != nullptr ? named->takes_near_null : type == "auto";
  if (!takes) exclude_both("solver.preconditioner.type: " + type);
}

/// Requires an absolute tolerance to be given, because no default suits residuals of unknown size.
void check_tolerance(const Config& config) {
  const Request& solver = config.request;
  const bool absolute = is_eigensolver(config.request.method)
                            ? solver.criterion == Criterion::absolute
                            : solver.linear_criterion == LinearCriterion::absolute;
  if (!absolute || solver.tolerance > 0) return;
  throw ConfigError(origin_of(config, "solver.criterion"),
                    "solver.criterion: absolute needs a solver.tolerance");
}

void check_filter(const Config& config) {
  const Request& solver = config.request;
  if (solver.filter != LanczosFilter::inverse || solver.which == Which::smallest) return;
  throw ConfigError(origin_of(config, "solver.filter"),
                    "solver.filter: inverse is for the smallest end");
}

void check_interval(const Config& config) {
  const ConfigNode* which = config.effective.find("solver")->find("which");
  const Request& solver = config.request;
  const bool wanted = which != nullptr && which->text == "interval";
  if (!wanted) {
    return exclude(config, "an end of the spectrum, use which: interval",
                   {{"solver.interval", solver.interval.has_value()}});
  }
  if (!solver.interval) {
    throw ConfigError(which->origin, "solver.which: interval needs a solver.interval");
  }
  exclude(config, "which: interval",
          {{"problem.mass", config.problem.mass.has_value()},
           {"problem.initial_guess", !config.problem.initial_guess.empty()},
           {"solver.max_basis", solver.max_basis != 0},
           {"solver.filter", solver.filter.has_value()},
           {"checkpoint", !solver.checkpoint.file.empty()},
           {"precision", config.request.precision == Precision::mixed}});
}

void check_triplets(const Config& config) {
  if (!finds_triplets(config)) return;
  const std::string& preconditioner = config.request.preconditioner.type;
  const Request& solver = config.request;
  exclude(config, "transform: normal_equations",
          {{"problem.mass", config.problem.mass.has_value()},
           {"problem.constraints", !config.problem.constraints.empty()},
           {"problem.initial_guess", !config.problem.initial_guess.empty()},
           {"solver.interval", solver.interval.has_value()},
           {"solver.max_basis", solver.max_basis != 0},
           {"solver.filter", solver.filter.has_value()},
           {"solver.refresh_interval", solver.refresh_interval != Request{}.refresh_interval},
           {"solver.preconditioner.type", preconditioner != "auto" && preconditioner != "none"},
           {"checkpoint", !solver.checkpoint.file.empty()},
           {"precision", config.request.precision == Precision::mixed}});
}

/// Restricts least squares to what needs only products with AᵀA and its diagonal.
void check_least_squares(const Config& config) {
  if (!solves_least_squares(config)) return;
  const PreconditionedProblem problem =
      detail::preconditioned_problem(config.request, known_sizes(config));
  const PreconditionerKind* named = named_preconditioner(config);
  if (named != nullptr && !named->unsuitable(problem).empty()) {
    std::vector<std::string_view> suitable;
    for (const std::string_view name : preconditioner_table().names()) {
      if (preconditioner_table().get(name).unsuitable(problem).empty()) suitable.push_back(name);
    }
    suitable.push_back("none");
    throw ConfigError(origin_of(config, "solver.preconditioner.type"),
                      fmt::format("transform: normal_equations takes solver.preconditioner.type {} "
                                  "or auto",
                                  fmt::join(suitable, ", ")));
  }
  exclude(config, "transform: normal_equations",
          {{"solver.project_rhs", config.request.project_rhs},
           {"checkpoint", !config.request.checkpoint.file.empty()}});
}

void check_transform(const Config& config) {
  const ProblemConfig& problem = config.problem;
  const bool averages = problem.symmetrize == Symmetrize::average;
  if (takes_laplacian(problem)) {
    return exclude(config, "a graph Laplacian; true takes the larger weight of both directions",
                   {{"problem.symmetrize", averages}});
  }
  exclude(config,
          uses_transpose(config) ? "transform: normal_equations"
                                 : "transform: none; it is for graph Laplacians",
          {{"problem.weights", problem.weights != EdgeWeights::stored},
           {"problem.symmetrize",
            problem.symmetrize == Symmetrize::larger || (averages && uses_transpose(config))}});
}

/// Rejects checkpoints with mixed precision, because a checkpoint holds one solve and mixed
/// precision makes two.
void check_checkpoint(const Config& config) {
  if (config.request.precision != Precision::mixed) return;
  exclude(config, "precision: mixed", {{"checkpoint", !config.request.checkpoint.file.empty()}});
}

}  // namespace

void check_combinations(const Config& config) {
  if (config.request.method != Method::automatic) {
    check_preconditioner(config);
    check_preconditioner_options(config);
  }
  check_near_null(config);
  check_tolerance(config);
  check_filter(config);
  check_interval(config);
  check_transform(config);
  check_triplets(config);
  check_least_squares(config);
  check_checkpoint(config);
}

}  // namespace heddle::apps
