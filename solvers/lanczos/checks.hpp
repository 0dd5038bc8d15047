#pragma once

#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>

namespace heddle::detail {

/// Throws `InvalidArgument`, naming both sides, where the problem and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_block_lanczos(const EigenProblem<T, Ctx>& problem, const BlockLanczosOptions& options) {
  const Require require{"block_lanczos"};
  require(problem.A != nullptr, "the problem has no A");
  const Index rows = problem.A->rows();  // in the memory of this process
  const Index n = problem.A->row_range().global;
  require_square<T, Ctx>(require, "A", rows, problem.A);
  require_square<T, Ctx>(require, "B", rows, problem.B);
  require_square<T, Ctx>(require, "the inverse of B", rows, problem.B_inverse);
  require(problem.initial_guess.cols() == 0 || problem.initial_guess.rows() == rows,
          "the initial guesses have {} rows, A has {}", problem.initial_guess.rows(), rows);
  require(problem.constraints.cols() == 0, "constraints are not taken, there are {}",
          problem.constraints.cols());
  require_square<T, Ctx>(require, "the shifted inverse", rows, problem.shifted_inverse);
  const bool may_invert = problem.shifted_inverse != nullptr && options.which == Which::smallest &&
                          options.filter != LanczosFilter::none &&
                          options.filter != LanczosFilter::chebyshev;
  require(problem.B != nullptr || problem.B_inverse == nullptr,
          "there is an inverse of B, but B is missing");
  require(problem.B == nullptr || problem.B_inverse != nullptr || may_invert,
          "a pencil needs an inverse of B or, for the smallest end, a shifted inverse");
  require(options.filter != LanczosFilter::inverse || may_invert,
          "filter inverse needs a shifted inverse and is for the smallest end");
  require(options.nev >= 1 && options.nev <= n, "nev must lie between 1 and n = {}, it is {}", n,
          options.nev);
  require_eigen_options(require, options);
  require_null_vectors(require, problem, options);
  require(problem.null_vectors.cols() < options.nev,
          "all of the {} pairs wanted are null vectors, there are {}: use null_pairs", options.nev,
          problem.null_vectors.cols());
  require(options.max_applications > 0, "max_applications must be positive, it is {}",
          options.max_applications);
  const BlockLanczosShape shape = block_lanczos_shape(options, n, problem.B != nullptr);
  const Index least = options.nev + 2 * shape.block;
  require(options.max_basis == 0 || options.max_basis >= least,
          "max_basis must be at least nev + 2 blocks = {}, it is {}", least, options.max_basis);
}

}  // namespace heddle::detail
