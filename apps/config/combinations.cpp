#include <fmt/format.h>

#include <heddle/apps/config/combinations.hpp>
#include <heddle/apps/preconditioner_plan.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <initializer_list>
#include <string_view>

namespace heddle::apps {
namespace {

/// A key that something else rules out, and whether it was given a value of its own.
struct Excluded {
  std::string_view path;
  bool given;
};

/// Throws if one of `keys` was given: `what` does not take them.
void exclude(const Config& config, std::string_view what, std::initializer_list<Excluded> keys) {
  for (const Excluded& key : keys) {
    if (!key.given) continue;
    throw ConfigError(origin_of(config, key.path),
                      fmt::format("{} does not go with {}", key.path, what));
  }
}

/// A good inverse of A hides just the eigenvectors that are wanted at the largest end.
void check_preconditioner(const Config& config) {
  const PreconditionerChoice type = config.preconditioner.type;
  const bool hides = (type == PreconditionerChoice::chebyshev ||
                      type == PreconditionerChoice::incomplete_cholesky) &&
                     config.solver.which == Which::largest && !config.problem.mass;
  if (!hides) return;
  const ConfigNode* chosen = config.effective.find("solver")->find("preconditioner")->find("type");
  throw ConfigError(chosen->origin,
                    fmt::format("solver.preconditioner.type: {} is for the smallest end and for "
                                "pencils; use auto or none for the largest end of a single "
                                "matrix",
                                chosen->text));
}

/// An option that its preconditioner does not have would do nothing.
void check_preconditioner_options(const Config& config) {
  if (config.type == SolverType::block_lanczos) return;
  const PreconditionerConfig& asked = config.preconditioner;
  const PreconditionerPlan plan = plan_preconditioner(config, config.problem.mass.has_value());
  const auto is = [&plan](PreconditionerChoice type) { return plan.type == type; };
  const bool automatic = asked.type == PreconditionerChoice::automatic;
  constexpr int kDefaultDegree = ChebyshevPreconditioner<double, HostContext>::kDefaultDegree;
  exclude(config,
          fmt::format("solver.preconditioner.type: {}{}", automatic ? "auto, which is " : "",
                      plan.name()),
          {{"solver.preconditioner.degree",
            asked.degree != kDefaultDegree && !is(PreconditionerChoice::chebyshev)},
           {"solver.preconditioner.block_size",
            asked.block_size != 0 && !is(PreconditionerChoice::block_jacobi)},
           {"solver.preconditioner.triangular_solve",
            asked.triangular_solve != TriangularSolve::automatic &&
                !is(PreconditionerChoice::incomplete_cholesky)}});
}

/// No default suits residuals of unknown size.
void check_tolerance(const Config& config) {
  const SolverConfig& solver = config.solver;
  const bool absolute = is_eigensolver(config.type)
                            ? solver.criterion == Criterion::absolute
                            : solver.linear_criterion == LinearCriterion::absolute;
  if (!absolute || solver.tolerance > 0) return;
  throw ConfigError(origin_of(config, "solver.criterion"),
                    "solver.criterion: absolute needs a solver.tolerance");
}

void check_filter(const Config& config) {
  const SolverConfig& solver = config.solver;
  if (solver.filter != LanczosFilter::inverse || solver.which == Which::smallest) return;
  throw ConfigError(origin_of(config, "solver.filter"),
                    "solver.filter: inverse is for the smallest end");
}

void check_interval(const Config& config) {
  const ConfigNode* which = config.effective.find("solver")->find("which");
  const SolverConfig& solver = config.solver;
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
           {"precision", config.precision == Precision::mixed}});
}

void check_triplets(const Config& config) {
  if (!finds_triplets(config)) return;
  const PreconditionerChoice preconditioner = config.preconditioner.type;
  const SolverConfig& solver = config.solver;
  exclude(config, "transform: normal_equations",
          {{"problem.mass", config.problem.mass.has_value()},
           {"problem.constraints", !config.problem.constraints.empty()},
           {"problem.initial_guess", !config.problem.initial_guess.empty()},
           {"solver.interval", solver.interval.has_value()},
           {"solver.max_basis", solver.max_basis != 0},
           {"solver.filter", solver.filter.has_value()},
           {"solver.refresh_interval", solver.refresh_interval != SolverConfig{}.refresh_interval},
           {"solver.preconditioner.type", preconditioner != PreconditionerChoice::automatic &&
                                              preconditioner != PreconditionerChoice::none},
           {"checkpoint", !solver.checkpoint.file.empty()},
           {"precision", config.precision == Precision::mixed}});
}

/// AᵀA is there as products, and as its diagonal.
void check_least_squares(const Config& config) {
  if (!solves_least_squares(config)) return;
  switch (config.preconditioner.type) {
    case PreconditionerChoice::automatic:
    case PreconditionerChoice::none:
    case PreconditionerChoice::jacobi:
      break;
    case PreconditionerChoice::block_jacobi:
    case PreconditionerChoice::chebyshev:
    case PreconditionerChoice::incomplete_cholesky:
      throw ConfigError(origin_of(config, "solver.preconditioner.type"),
                        "transform: normal_equations takes solver.preconditioner.type jacobi, none "
                        "or auto");
  }
  exclude(config, "transform: normal_equations",
          {{"checkpoint", !config.solver.checkpoint.file.empty()}});
}

/// A checkpoint is of one solve, mixed precision makes two.
void check_checkpoint(const Config& config) {
  if (config.precision != Precision::mixed) return;
  exclude(config, "precision: mixed", {{"checkpoint", !config.solver.checkpoint.file.empty()}});
}

}  // namespace

void check_combinations(const Config& config) {
  check_preconditioner(config);
  check_preconditioner_options(config);
  check_tolerance(config);
  check_filter(config);
  check_interval(config);
  check_triplets(config);
  check_least_squares(config);
  check_checkpoint(config);
}

}  // namespace heddle::apps
