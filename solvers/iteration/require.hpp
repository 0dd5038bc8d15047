#pragma once

#include <fmt/format.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <string_view>

namespace heddle::detail {

/// Checks the arguments of a solver: require(holds, format, values…) throws `InvalidArgument`
/// unless `holds`. The message begins with the name of the solver.
struct Require {
  std::string_view solver;

  template <class... Values>
  void operator()(bool holds, std::string_view format, const Values&... values) const {
    if (holds) return;
    throw InvalidArgument(
        fmt::format("{}: {}", solver, fmt::format(fmt::runtime(format), values...)));
  }
};

/// Requires that an operator is n×n, unless it is null.
template <Scalar T, class Ctx>
void require_square(const Require& require, const char* name, Index n,
                    const LinearOperator<T, Ctx>* op) {
  require(op == nullptr || (op->rows() == n && op->cols() == n),
          "{} must be {}x{} like A's rows, it is {}x{}", name, n, n, op ? op->rows() : 0,
          op ? op->cols() : 0);
}

/// Requires a relative tolerance in (0, 1), or 0 for the default.
inline void require_tolerance(const Require& require, double tolerance) {
  require(tolerance == 0 || (tolerance > 0 && tolerance < 1),
          "the tolerance must lie in (0, 1), it is {}", tolerance);
}

/// Requires limits of iterations and time that are not negative.
template <class Options>
void require_limits(const Require& require, const Options& options) {
  require(options.max_iterations >= 0, "max_iterations must not be negative, it is {}",
          options.max_iterations);
  require(options.time_limit_s >= 0, "the time limit must not be negative, it is {} s",
          options.time_limit_s);
}

/// Requires that the options name no checkpoint file. For methods that consist of several solves.
template <class Options>
void require_no_checkpoint(const Require& require, const Options& options) {
  require(options.checkpoint.file.empty(), "checkpoints are not kept here, but {} was asked for",
          options.checkpoint.file.string());
}

/// Requires checkpoint options that fit together.
inline void require_checkpoint(const Require& require, const CheckpointOptions& checkpoint) {
  require(checkpoint.every_s >= 0, "checkpoints must not be a negative time apart, it is {} s",
          checkpoint.every_s);
  require(!checkpoint.resume || !checkpoint.file.empty(),
          "there is no checkpoint file to resume from");
}

/// Checks the options that all eigensolvers share, except nev.
inline void require_eigen_options(const Require& require, const EigenOptions& options) {
  if (options.criterion == Criterion::absolute) {
    require(options.tolerance >= 0 && std::isfinite(options.tolerance),
            "an absolute tolerance must be positive, it is {}", options.tolerance);
  } else {
    require_tolerance(require, options.tolerance);
  }
  require(options.block_size >= 0, "the block size must not be negative, it is {}",
          options.block_size);
  require_limits(require, options);
  require_checkpoint(require, options.checkpoint);
}

/// Checks what all solves by factors of A − σB share: matrices with all rows in this process, an
/// inverse of their order, and options without checkpoints.
template <Scalar T, class Ctx>
void require_factored(const Require& require, const EigenProblem<T, Ctx>& problem,
                      const LinearOperator<T, Ctx>& inverse, const EigenOptions& options) {
  require(problem.A != nullptr, "the problem has no A");
  const Index n = problem.A->row_range().global;
  require(n >= 1 && problem.A->rows() == n && problem.A->cols() == n,
          "A must be square with all rows in this process, it is {}x{}", problem.A->rows(),
          problem.A->cols());
  require_square<T, Ctx>(require, "B", n, problem.B);
  require_square<T, Ctx>(require, "the inverse", n, &inverse);
  require(options.nev >= 1 && options.nev <= n, "nev must lie between 1 and n = {}, it is {}", n,
          options.nev);
  require_eigen_options(require, options);
  require_no_checkpoint(require, options);
}

/// Requires null vectors that suit the problem and the options, if there are any. They need A.
template <Scalar T, class Ctx>
void require_null_vectors(const Require& require, const EigenProblem<T, Ctx>& problem,
                          const EigenOptions& options) {
  const Index k = problem.null_vectors.cols();
  if (k == 0) return;
  require(problem.null_vectors.rows() == problem.A->rows(),
          "the null vectors have {} rows, A has {}", problem.null_vectors.rows(),
          problem.A->rows());
  require(options.which == Which::smallest, "null vectors are for the smallest end");
  require(problem.constraints.cols() == 0, "null vectors do not go with constraints, there are {}",
          problem.constraints.cols());
}

/// Checks the options that all solvers of linear systems share.
inline void require_linear_options(const Require& require, const LinearOptions& options) {
  if (options.criterion == LinearCriterion::relative) {
    require_tolerance(require, options.tolerance);
  } else {
    require(options.tolerance > 0, "an absolute tolerance must be positive, it is {}",
            options.tolerance);
  }
  require_limits(require, options);
  require_checkpoint(require, options.checkpoint);
}

}  // namespace heddle::detail
