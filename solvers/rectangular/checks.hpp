#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>

namespace heddle::detail {

/// Throws `InvalidArgument`, naming both sides, where the operators and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_singular_triplets(const AdjointPair<T, Ctx>& pair, const SingularOptions& options) {
  const Require require{"singular_triplets"};
  require_adjoint_pair("singular_triplets", pair);
  const Index most = std::min(pair.A->row_range().global, pair.A->column_range().global);
  require(options.nev >= 1 && options.nev <= most,
          "nev must be at least 1 and at most the shorter side of A, {}; it is {}", most,
          options.nev);
  if (options.criterion == Criterion::absolute) {
    require(options.tolerance > 0, "an absolute tolerance must be positive, it is {}",
            options.tolerance);
  } else {
    require_tolerance(require, options.tolerance);
  }
  require(options.block_size >= 0, "the block size must not be negative, it is {}",
          options.block_size);
  require_limits(require, options);
  require_no_checkpoint(require, options);
}

/// Throws `InvalidArgument`, naming both sides, where the problem and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_least_squares(const LeastSquaresProblem<T, Ctx>& problem,
                         const LeastSquaresOptions& options) {
  require_adjoint_pair("least_squares", problem.A);
  const Require require{"least_squares"};
  const Index m = problem.A.A->rows();
  const Index n = problem.A.A->cols();
  const auto& B = problem.B;
  const auto& X = problem.initial_guess;
  require(B.rows() == m && B.cols() >= 1,
          "B must have A's {} rows and at least one column, it is {}x{}", m, B.rows(), B.cols());
  require(X.cols() == 0 || (X.rows() == n && X.cols() == B.cols()),
          "the initial guess must be {}x{}, it is {}x{}", n, B.cols(), X.rows(), X.cols());
  require(options.damp >= 0 && std::isfinite(options.damp),
          "damp must be a finite number that is not negative, it is {}", options.damp);
  require_linear_options(require, options);
  require_no_checkpoint(require, options);
}

}  // namespace heddle::detail
