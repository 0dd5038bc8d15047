#pragma once

#include <cmath>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/iteration/require.hpp>

namespace heddle::detail {

/// Throws `InvalidArgument`, naming both sides, where the problem and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_interval(const EigenProblem<T, Ctx>& problem, const IntervalOptions& options) {
  const Require require{"interval_eigenpairs"};
  require(problem.A != nullptr, "the problem has no A");
  const Index n = problem.A->row_range().global;
  require(n >= 1 && problem.A->column_range().global == n,
          "A must be square with a row at least, it is {}x{}", n, problem.A->column_range().global);
  require(problem.B == nullptr, "only the standard problem A x = lambda x is solved, B is {}x{}",
          problem.B == nullptr ? 0 : problem.B->rows(),
          problem.B == nullptr ? 0 : problem.B->cols());
  require(problem.constraints.cols() == 0, "constraints are not taken, there are {}",
          problem.constraints.cols());
  require(options.lower <= options.upper,  // false for NaN
          "the ends of the interval must be in ascending order, they are {} and {}", options.lower,
          options.upper);
  require(options.nev >= 1 && options.nev <= n, "nev must lie between 1 and n = {}, it is {}", n,
          options.nev);
  require_eigen_options(require, options);
  require_no_checkpoint(require, options);
}

}  // namespace heddle::detail
