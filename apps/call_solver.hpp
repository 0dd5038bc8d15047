#pragma once

#include <heddle/apps/placed_problem.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/apps/solver_options.hpp>
#include <utility>

/// What one solver has that another has differently. The solver is `config.type`.
namespace heddle::apps {

/// A result and its eigenvectors or solution.
template <Scalar T, class Space>
struct Solved {
  Summary summary;
  MultiVector<T, Space> vectors;
};

/// Solves `problem` with the options in `config`.
template <Scalar T, class Ctx>
Solved<T, typename Ctx::Space> call_solver(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                           const Config& config, const Monitor& monitor) {
  const auto eigenpairs = [](auto result) -> Solved<T, typename Ctx::Space> {
    return {summarize(result), std::move(result.eigenvectors)};
  };
  switch (config.type) {
    case SolverType::lobpcg:
      return eigenpairs(
          lobpcg<T, Ctx>(context, problem.eigenproblem(), lobpcg_options(config), monitor));
    case SolverType::block_lanczos:
      if (config.solver.interval) {
        return eigenpairs(interval_eigenpairs<T, Ctx>(context, problem.eigenproblem(),
                                                      interval_options(config), monitor));
      }
      return eigenpairs(block_lanczos<T, Ctx>(context, problem.eigenproblem(),
                                              block_lanczos_options(config, problem.inner_solves()),
                                              monitor));
    case SolverType::block_cg:
      break;
  }
  auto result = block_cg<T, Ctx>(context, problem.system(), block_cg_options(config), monitor);
  return {summarize(result), std::move(result.solution)};
}

}  // namespace heddle::apps
