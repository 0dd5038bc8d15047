#pragma once

#include <fmt/format.h>

#include <heddle/linalg/error.hpp>
#include <heddle/solvers/block_lanczos.hpp>
#include <string>
#include <string_view>

namespace heddle {

/// Throws `InvalidArgument`, naming both sides, where the problem and the options do not fit
/// together.
template <Scalar T, class Ctx>
void check_block_lanczos(const EigenProblem<T, Ctx>& problem, const BlockLanczosOptions& options) {
  const auto require = [](bool holds, std::string_view format, const auto&... values) {
    if (!holds) {
      throw InvalidArgument("block_lanczos: " + fmt::format(fmt::runtime(format), values...));
    }
  };
  require(problem.A != nullptr, "the problem has no A");
  const Index n = problem.A->rows();
  const auto square = [&](const char* name, const LinearOperator<T, Ctx>* op) {
    require(op == nullptr || (op->rows() == n && op->cols() == n),
            "{} must be {}x{} like A's rows, it is {}x{}", name, n, n, op ? op->rows() : 0,
            op ? op->cols() : 0);
  };
  square("A", problem.A);
  square("B", problem.B);
  square("the inverse of B", problem.B_inverse);
  require(problem.initial_guess.cols() == 0 || problem.initial_guess.rows() == n,
          "the initial guesses have {} rows, A has {}", problem.initial_guess.rows(), n);
  require(problem.constraints.cols() == 0, "constraints are not taken, there are {}",
          problem.constraints.cols());
  require((problem.B == nullptr) == (problem.B_inverse == nullptr),
          "a pencil needs both B and its inverse, {} is missing",
          problem.B == nullptr ? "B" : "the inverse");
  require(options.nev >= 1 && options.nev < n,
          "nev must be at least 1 and less than n = {}, it is {}", n, options.nev);
  require(options.tolerance == 0 || (options.tolerance > 0 && options.tolerance < 1),
          "the tolerance must lie in (0, 1), it is {}", options.tolerance);
  require(options.block_size >= 0, "the block size must not be negative, it is {}",
          options.block_size);
  require(options.max_iterations >= 0, "max_iterations must not be negative, it is {}",
          options.max_iterations);
  const BlockLanczosShape shape = block_lanczos_shape(options, n, problem.B != nullptr);
  const Index least = options.nev + 2 * shape.block;
  require(options.max_basis == 0 || options.max_basis >= least,
          "max_basis must be at least nev + 2 blocks = {}, it is {}", least, options.max_basis);
}

}  // namespace heddle
