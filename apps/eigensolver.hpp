#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/solvers/lobpcg.hpp>

/// What one eigensolver has that another has differently. The solver is `config.type`.
namespace heddle::apps {

/// Columns that the solver multiplies by A at once, for a matrix of order n with c constraints.
inline Index solver_block_size(const Config& config, Index n, Index constraints) {
  return lobpcg_block_size(config.solver, n, constraints);
}

/// Bytes that the solver holds beside the operators, its result included.
inline double solver_memory_bytes(const Config& config, Index n, Index constraints, bool pencil,
                                  std::size_t scalar_size) {
  return lobpcg_memory_bytes(config.solver, n, constraints, pencil, scalar_size);
}

/// Solves `problem` with the options in `config`.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> run_solver(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                               const Config& config, const Monitor& monitor) {
  return lobpcg(context, problem, config.solver, monitor);
}

}  // namespace heddle::apps
