#include <heddle/apps/solver_options.hpp>

namespace heddle::apps {
namespace {

BlockLanczosShape shape_of(const Config& config, const ProblemSizes& sizes) {
  return block_lanczos_shape(block_lanczos_options(config), sizes.n, sizes.pencil);
}

}  // namespace

LobpcgOptions lobpcg_options(const Config& config) {
  return {static_cast<const EigenOptions&>(config.solver), config.solver.refresh_interval};
}

BlockLanczosOptions block_lanczos_options(const Config& config, bool inner_solves) {
  const SolverConfig& solver = config.solver;
  const LanczosFilter fallback = inner_solves ? LanczosFilter::none : LanczosFilter::automatic;
  return {static_cast<const EigenOptions&>(solver), solver.max_basis,
          solver.filter.value_or(fallback)};
}

bool may_invert(const Config& config) {
  const SolverConfig& solver = config.solver;
  const LanczosFilter filter = solver.filter.value_or(LanczosFilter::automatic);
  return config.type == SolverType::block_lanczos && !solver.interval && !finds_triplets(config) &&
         solver.which == Which::smallest &&
         (filter == LanczosFilter::automatic || filter == LanczosFilter::inverse);
}

IntervalOptions interval_options(const Config& config) {
  const SolverConfig& solver = config.solver;
  return {static_cast<const EigenOptions&>(solver), solver.interval->lower, solver.interval->upper};
}

SingularOptions singular_options(const Config& config) {
  SingularOptions options;
  static_cast<EigenOptions&>(options) = config.solver;
  options.solver =
      config.type == SolverType::lobpcg ? SingularSolver::lobpcg : SingularSolver::block_lanczos;
  return options;
}

BlockCgOptions block_cg_options(const Config& config) {
  const SolverConfig& solver = config.solver;
  return {{solver.tolerance, solver.linear_criterion, solver.max_iterations, solver.time_limit_s,
           solver.checkpoint},
          solver.algorithm,
          solver.refresh_interval};
}

Index solver_block_size(const Config& config, const ProblemSizes& sizes) {
  if (finds_triplets(config)) {
    return singular_block_size(singular_options(config), sizes.n, sizes.cols);
  }
  switch (config.type) {
    case SolverType::lobpcg:
      return lobpcg_block_size(config.solver, sizes.n, sizes.constraints);
    case SolverType::block_lanczos:
      if (config.solver.interval) return interval_block_size(interval_options(config), sizes.n);
      return shape_of(config, sizes).block;
    case SolverType::block_cg:
      return sizes.rhs;
  }
  return 0;
}

double solver_memory_bytes(const Config& config, const ProblemSizes& sizes,
                           std::size_t scalar_size) {
  if (finds_triplets(config)) {
    return singular_memory_bytes(singular_options(config), sizes.n, sizes.cols, scalar_size);
  }
  switch (config.type) {
    case SolverType::lobpcg:
      return lobpcg_memory_bytes(config.solver, sizes.n, sizes.constraints, sizes.pencil,
                                 scalar_size);
    case SolverType::block_lanczos:
      if (config.solver.interval) {
        return interval_memory_bytes(interval_options(config), sizes.n, scalar_size);
      }
      return block_lanczos_memory_bytes(block_lanczos_options(config), sizes.n, sizes.pencil,
                                        scalar_size);
    case SolverType::block_cg:
      if (solves_least_squares(config)) {
        return least_squares_memory_bytes(sizes.n, sizes.cols, sizes.rhs, scalar_size);
      }
      return block_cg_memory_bytes(sizes.n, sizes.rhs, scalar_size);
  }
  return 0;
}

Index result_columns(const Config& config, const ProblemSizes& sizes) {
  return is_eigensolver(config.type) ? config.solver.nev : sizes.rhs;
}

}  // namespace heddle::apps
