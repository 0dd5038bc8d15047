#pragma once

#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>

namespace heddle::detail {

/// Throws `InvalidArgument`, naming both sides, where the problem and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_lobpcg(const EigenProblem<T, Ctx>& problem, const LobpcgOptions& options) {
  const Require require{"lobpcg"};
  require(problem.A != nullptr, "the problem has no A");
  const Index n = problem.A->rows();  // in the memory of this process
  require_square<T, Ctx>(require, "A", n, problem.A);
  require_square<T, Ctx>(require, "B", n, problem.B);
  require_square<T, Ctx>(require, "the preconditioner", n, problem.preconditioner);
  const auto tall = [&](const char* name, Index rows, Index cols) {
    require(cols == 0 || rows == n, "{} have {} rows, A has {}", name, rows, n);
  };
  tall("the constraints", problem.constraints.rows(), problem.constraints.cols());
  tall("the initial guesses", problem.initial_guess.rows(), problem.initial_guess.cols());
  const Index space = problem.A->row_range().global - problem.constraints.cols();
  require(options.nev >= 1 && options.nev < space,
          "nev must be at least 1 and less than n - constraints = {}, it is {}", space,
          options.nev);
  require_eigen_options(require, options);
  require_null_vectors(require, problem, options);
  require(problem.null_vectors.cols() < options.nev,
          "all of the {} pairs wanted are null vectors, there are {}: use null_pairs", options.nev,
          problem.null_vectors.cols());
  require(options.refresh_interval >= 1, "refresh_interval must be at least 1, it is {}",
          options.refresh_interval);
}

}  // namespace heddle::detail
