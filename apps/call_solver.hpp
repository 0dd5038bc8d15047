#pragma once

#include <heddle/apps/placed_problem.hpp>
#include <heddle/apps/report/report.hpp>
#include <heddle/apps/solver_options.hpp>
#include <utility>

/// What one solver has that another has differently. The solver is `config.type`.
namespace heddle::apps {

/// A result and its eigenvectors, right singular vectors or solution.
template <Scalar T, class Space>
struct Solved {
  Summary summary;
  MultiVector<T, Space> vectors;
  MultiVector<T, Space> left_vectors{};  ///< of singular triplets
};

/// Solves `problem` with the options in `config`.
template <Scalar T, class Ctx>
Solved<T, typename Ctx::Space> call_solver(Ctx& context, PlacedProblem<T, Ctx>& problem,
                                           const Config& config, const Monitor& monitor) {
  if (finds_triplets(config)) {
    auto result = singular_triplets<T, Ctx>(context, problem.adjoint_pair(),
                                            singular_options(config), monitor);
    return {summarize(result), std::move(result.right_vectors), std::move(result.left_vectors)};
  }
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
  const auto solution = [](auto result) -> Solved<T, typename Ctx::Space> {
    return {summarize(result), std::move(result.solution)};
  };
  const BlockCgOptions options = block_cg_options(config);
  if (solves_least_squares(config)) {
    return solution(
        least_squares<T, Ctx>(context, problem.least_squares_problem(), options, monitor));
  }
  return solution(block_cg<T, Ctx>(context, problem.system(), options, monitor));
}

}  // namespace heddle::apps
