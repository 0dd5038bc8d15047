#include <fmt/format.h>

#include <heddle/apps/config/combinations.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/plan/request_rules.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
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
  const ProblemConfig& problem = config.problem;
  const bool buckling = problem.geometric_stiffness.has_value();
  return {.pencil = problem.mass || buckling,
          .buckling = buckling,
          .normal_equations = uses_transpose(config)};
}

/// The preconditioner that the configuration names, null for auto and none.
const PreconditionerKind* named_preconditioner(const Config& config) {
  return preconditioner_table().find(config.request.preconditioner.type);
}

/// How messages call what the rules of requests name.
std::string name_in_files(std::string_view name) {
  if (name == "normal_equations") return "transform: normal_equations";
  if (name == "interval") return "which: interval";
  if (name == "sigma") return "which: nearest";
  if (name == "geometric_stiffness") return "problem.geometric_stiffness";
  return detail::key_of(name);
}

std::string_view key_of(ProblemPart part) {
  switch (part) {
    case ProblemPart::mass:
      return "problem.mass";
    case ProblemPart::geometric_stiffness:
      return "problem.geometric_stiffness";
    case ProblemPart::rhs:
      return "problem.rhs";
    case ProblemPart::constraints:
      return "problem.constraints";
    default:
      return "problem.initial_guess";
  }
}

/// Applies the rules of requests, which need no more of the problem than the configuration tells.
void check_request(const Config& config) {
  detail::AskedProblem asked{.pencil = known_sizes(config).pencil,
                             .buckling = known_sizes(config).buckling,
                             .normal_equations = uses_transpose(config),
                             .constraints = !config.problem.constraints.empty(),
                             .initial_guess = !config.problem.initial_guess.empty()};
  const bool open = config.request.method == Method::automatic;
  if (!open) {
    asked.preconditioned = detail::preconditioned_problem(config.request, known_sizes(config));
  }
  try {
    detail::check_request(config.request, asked, open, name_in_files);
  } catch (const RequestError& error) {
    refuse(config, error);
  } catch (const ProblemError& error) {
    const std::string_view key = key_of(error.part());
    throw ConfigError(origin_of(config, key), fmt::format("{} {}", key, error.message()));
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

void check_sigma(const Config& config, const Origin& which) {
  exclude(config, "which: nearest", {{"solver.interval", config.request.interval.has_value()}});
  if (config.request.sigma) return;
  throw ConfigError(which, "solver.which: nearest needs a solver.sigma");
}

void check_interval(const Config& config) {
  const ConfigNode* which = config.effective.find("solver")->find("which");
  const Request& solver = config.request;
  const bool wanted = which != nullptr && which->text == "interval";
  if (which != nullptr && which->text == "nearest") return check_sigma(config, which->origin);
  if (!wanted) {
    return exclude(config,
                   solver.sigma ? "an end of the spectrum, use which: nearest"
                                : "an end of the spectrum, use which: interval",
                   {{"solver.interval", solver.interval.has_value()},
                    {"solver.sigma", solver.sigma.has_value()}});
  }
  if (!solver.interval) {
    throw ConfigError(which->origin, "solver.which: interval needs a solver.interval");
  }
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

/// Singular values have no frequencies.
void check_unit(const Config& config) {
  if (!uses_transpose(config)) return;
  exclude(config, "transform: normal_equations", {{"output.unit", is_named(config.output.unit)}});
}

}  // namespace

void refuse(const Config& config, const RequestError& error) {
  const std::string key = detail::key_of(error.field());
  const std::string_view rest = std::string_view(error.what()).substr(error.field().size());
  throw ConfigError(origin_of(config, key), fmt::format("{}{}", key, rest));
}

void check_combinations(const Config& config) {
  exclude(config, "problem.geometric_stiffness",
          {{"problem.mass", config.problem.mass && config.problem.geometric_stiffness}});
  check_near_null(config);
  check_interval(config);
  check_transform(config);
  check_unit(config);
  check_request(config);
}

}  // namespace heddle::apps
