#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <limits>

#include "solvers/linear_test_support.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::FunctionOperator;
using test::make_operator;
using test::random_vectors;

/// Every status is produced by both algorithms.
class BlockCgStatus : public ::testing::TestWithParam<CgAlgorithm> {
 protected:
  LinearResult<double, HostSpace> solve(const LinearSystem<double, HostContext>& system,
                                        const Monitor& monitor = {}) {
    options_.algorithm = GetParam();
    return block_cg<double, HostContext>(context_, system, options_, monitor);
  }

  HostContext context_;
  BlockCgOptions options_;
};

TEST_P(BlockCgStatus, IterationLimitKeepsTheBestColumns) {
  std::vector<double> diagonal(300);  // from 1 to 10⁴, so that residuals grow while errors fall
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    diagonal[i] = std::pow(10, 4 * static_cast<double>(i) / 299);
  }
  DiagonalOperator<double> A(diagonal);
  const auto B = random_vectors<double>(context_, 300, 3);
  std::vector<double> before(3, std::numeric_limits<double>::infinity());
  for (Index limit = 0; limit < 8; ++limit) {
    options_.max_iterations = limit;
    const auto result = solve({&A, nullptr, B.view()});
    EXPECT_EQ(result.status, SolveStatus::max_iterations);
    EXPECT_EQ(result.iterations, limit);
    EXPECT_EQ(std::ssize(result.history), limit + 1);
    for (Index j = 0; j < 3; ++j) {
      double energy = 0, residual = 0, size = 0;
      for (Index i = 0; i < 300; ++i) {
        const double a = diagonal[static_cast<std::size_t>(i)], b = B.view()(i, j);
        const double r = b - a * result.solution.view()(i, j);
        energy += r * r / a;
        residual += r * r;
        size += b * b;
      }
      const auto column = static_cast<std::size_t>(j);
      EXPECT_NEAR(result.residuals[column], std::sqrt(residual / size), 1e-12);
      EXPECT_LT(energy, before[column]);
      if (limit == 1) {
        EXPECT_GT(result.residuals[column], 1);
      }
      before[column] = energy;
    }
  }
}

TEST_P(BlockCgStatus, NoIterationsAtAllGiveTheGuess) {
  auto A = make_operator<double>(context_, {"laplace2d", {10, 11}});
  const auto B = random_vectors<double>(context_, A.rows(), 2);
  const auto guess = random_vectors<double>(context_, A.rows(), 2, 1);
  options_.max_iterations = 0;
  const auto result = solve({&A, nullptr, B.view(), guess.view()});
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_EQ(test::all_entries<double>(result.solution.view()),
            test::all_entries<double>(guess.view()));
}

TEST_P(BlockCgStatus, TimeLimitEndsASolve) {
  auto A = make_operator<double>(context_, {"laplace2d", {40, 41}});
  const auto B = random_vectors<double>(context_, A.rows(), 3);
  options_.time_limit_s = 0;
  EXPECT_EQ(solve({&A, nullptr, B.view()}).status, SolveStatus::time_limit);
}

TEST_P(BlockCgStatus, MonitorSeesEveryIterationAndCanStop) {
  auto A = make_operator<double>(context_, {"laplace2d", {40, 41}});
  const auto B = random_vectors<double>(context_, A.rows(), 3);
  Index calls = 0;
  const auto result = solve({&A, nullptr, B.view()}, [&](const MonitorState& state) {
    EXPECT_EQ(state.record.iteration, calls);
    EXPECT_EQ(state.nev, 3);
    EXPECT_TRUE(state.eigenvalues.empty());
    EXPECT_EQ(state.residuals.size(), 3u);
    for (const double residual : state.residuals) {
      EXPECT_LE(residual, state.record.worst_residual);
    }
    return ++calls < 6;
  });
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(result.status, SolveStatus::interrupted);
  EXPECT_EQ(result.iterations, 5);
}

TEST_P(BlockCgStatus, AnIndefiniteMatrixIsFound) {
  for (const double least : {-1.0, -100.0, -1e-3}) {
    DiagonalOperator<double> A(counting(300, least));
    const auto B = random_vectors<double>(context_, 300, 4);
    const auto result = solve({&A, nullptr, B.view()});
    EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
    EXPECT_NE(result.reason.find("A is not positive definite"), std::string::npos);
    for (const double residual : result.residuals) EXPECT_TRUE(std::isfinite(residual));
  }
}

TEST_P(BlockCgStatus, APreconditionerThatIsNotPositiveDefiniteIsFound) {
  auto A = make_operator<double>(context_, {"laplace2d", {15, 16}});
  const auto B = random_vectors<double>(context_, A.rows(), 4);
  for (const double first : {-300.0, 0.0}) {  // negative definite, and zero where it matters
    std::vector<double> diagonal = counting(A.rows(), first);
    if (first == 0) std::fill(diagonal.begin(), diagonal.end(), 0.0);
    DiagonalOperator<double> M(diagonal);
    const auto result = solve({&A, &M, B.view()});
    EXPECT_EQ(result.status, SolveStatus::indefinite);
    EXPECT_NE(result.reason.find("preconditioner"), std::string::npos) << result.reason;
  }
}

TEST_P(BlockCgStatus, APreconditionerThatIsNegativeWhereItMattersIsFound) {
  DiagonalOperator<double> A(counting(300));
  std::vector<double> diagonal(300, 1.0);
  diagonal[7] = -1;
  DiagonalOperator<double> M(diagonal);
  MultiVector<double, HostSpace> B(context_, 300, 1);
  set_zero<double>(context_, B.view());
  B.view()(7, 0) = 1;
  const auto result = solve({&A, &M, B.view()});
  EXPECT_EQ(result.status, SolveStatus::indefinite);
  EXPECT_NE(result.reason.find("the preconditioner is not positive definite: r'M"),
            std::string::npos)
      << result.reason;
}

TEST_P(BlockCgStatus, APreconditionerThatIsNotSymmetricIsFound) {
  auto A = make_operator<double>(context_, {"laplace2d", {15, 16}});
  const auto B = random_vectors<double>(context_, A.rows(), 4);
  FunctionOperator M(A.rows(), [](ConstBlockView<double, HostSpace> X,
                                  BlockView<double, HostSpace> Y) {
    for (Index i = 0; i < X.rows(); ++i) {  // I plus a part of the row before: as Gauss–Seidel has
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = X(i, j) + (i > 0 ? 0.5 * X(i - 1, j) : 0);
    }
  });
  const auto result = solve({&A, &M, B.view()});
  EXPECT_EQ(result.status, SolveStatus::indefinite);
  EXPECT_NE(result.reason.find("the preconditioner is not symmetric"), std::string::npos)
      << result.reason;
  EXPECT_EQ(result.iterations, 0);
}

TEST_P(BlockCgStatus, AToleranceBelowRoundingStagnates) {
  auto A = make_operator<double>(context_, {"laplace2d", {20, 21}});
  const auto B = random_vectors<double>(context_, A.rows(), 3);
  options_.tolerance = 1e-19;
  const auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  EXPECT_LT(result.iterations, 2000);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_LE(result.backward_errors[j], 1e-15);
    EXPECT_LE(result.residuals[j], 1e-12);
  }
}

TEST_P(BlockCgStatus, ANormThatIsNotKnownIsEstimated) {
  const Index n = 300;
  DiagonalOperator<double> A(counting(n));
  DiagonalOperator<double> scaling(counting(n, 1000));
  auto B = random_vectors<double>(context_, n, 8);
  for (Index j = 0; j < 6; ++j) {  // of two eigenvectors: these columns leave early
    set_zero<double>(context_, B.columns(j, 1));
    B.view()(40 * j, j) = B.view()(40 * j + 1, j) = 1;
  }
  const std::vector<Preconditioner<double, HostContext>*> both = {nullptr, &scaling};
  for (auto* M : both) {
    options_.tolerance = 1e-8;
    const auto result = solve({&A, M, B.view()});
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (Index j = 6; j < 8; ++j) {
      double x = 0, b = 0;
      for (Index i = 0; i < n; ++i) {
        x = std::hypot(x, result.solution.view()(i, j));
        b = std::hypot(b, B.view()(i, j));
      }
      const auto column = static_cast<std::size_t>(j);
      const double norm = b * (result.residuals[column] / result.backward_errors[column] - 1) / x;
      EXPECT_LE(norm, n * (1 + 1e-6));  // a Rayleigh quotient
      EXPECT_GE(norm, n / 2);
    }
  }
}

TEST_P(BlockCgStatus, AToleranceBelowRoundingStagnatesWithoutAKnownNorm) {
  FunctionOperator A(300, [](ConstBlockView<double, HostSpace> X, BlockView<double, HostSpace> Y) {
    for (Index i = 0; i < 300; ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) = 2 * X(i, j) - (i > 0 ? X(i - 1, j) : 0) - (i < 299 ? X(i + 1, j) : 0);
      }
    }
  });
  const auto B = random_vectors<double>(context_, 300, 3);
  options_.tolerance = 1e-19;
  const auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  EXPECT_LT(result.iterations, 3000);
}

TEST_P(BlockCgStatus, SinglePrecisionStagnatesAtWhatItCanReach) {
  auto A = make_operator<float>(context_, {"laplace2d", {20, 21}});
  const auto B = random_vectors<float>(context_, A.rows(), 3);
  options_.tolerance = 1e-10;
  options_.algorithm = GetParam();
  const auto result = block_cg<float, HostContext>(context_, {&A, nullptr, B.view()}, options_);
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  for (const double residual : result.residuals) EXPECT_LE(residual, 1e-4);
}

TEST_P(BlockCgStatus, ASingularSystemWithoutSolutionBreaksDown) {
  DiagonalOperator<double> A(counting(300, 0));
  const auto B = random_vectors<double>(context_, 300, 4);
  const auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
}

/// The Laplacian of a path: singular, with the constant vectors for its null space. With edges of
/// unlike weight its rows cancel to rounding only.
SparseOperator<double, HostContext> path(HostContext& context, Index n, bool unlike) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i + 1 < n; ++i) {
    const double weight = unlike ? 1 / static_cast<double>(3 + i % 7) : 1;
    entries.insert(
        entries.end(),
        {{i, i, weight}, {i + 1, i + 1, weight}, {i, i + 1, -weight}, {i + 1, i, -weight}});
  }
  return {context, csr_from_triplets<double>(context, n, n, entries)};
}

TEST_P(BlockCgStatus, ASingularMatrixIsNotTakenForAnIndefiniteOne) {
  for (const Index n : {10, 40}) {
    auto A = path(context_, n, true);
    JacobiPreconditioner<double, HostContext> jacobi(context_, A.matrix());
    ChebyshevPreconditioner<double, HostContext> chebyshev(context_, A.matrix());
    IncompleteCholeskyPreconditioner<double, HostContext> ic(context_, A.matrix());
    auto B = random_vectors<double>(context_, n, 4);
    for (Index i = 0; i < n; ++i) B.view()(i, 3) = 1;  // in the null space
    const std::vector<Preconditioner<double, HostContext>*> all = {nullptr, &jacobi, &chebyshev,
                                                                   &ic};
    for (auto* M : all) {
      for (Index first = 0; first < 4; ++first) {
        const auto result = solve({&A, M, B.columns(first, 4 - first)});
        EXPECT_NE(result.status, SolveStatus::indefinite) << result.reason;
        EXPECT_NE(result.status, SolveStatus::converged) << result.reason;
      }
    }
  }
}

TEST_P(BlockCgStatus, NoColumnIsWorseThanItBegan) {
  const Index n = 40;
  auto A = path(context_, n, true);
  const auto B = random_vectors<double>(context_, n, 3);
  const auto guess = random_vectors<double>(context_, n, 3, 1);
  const auto began = test::true_linear_residuals<double>(A.matrix(), B.view(), guess.view());
  for (const bool guessed : {false, true}) {
    LinearSystem<double, HostContext> system{&A, nullptr, B.view()};
    if (guessed) system.initial_guess = guess.view();
    const auto result = solve(system);
    EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
    const auto ended =
        test::true_linear_residuals<double>(A.matrix(), B.view(), result.solution.view());
    for (std::size_t j = 0; j < 3; ++j) {
      const double first = guessed ? began[j] : 1;
      EXPECT_LE(ended[j], first * (1 + 1e-12)) << "column " << j;
      EXPECT_NEAR(result.residuals[j], ended[j], 1e-12 * first);
      EXPECT_LE(result.backward_errors[j], result.residuals[j]);
      if (result.residuals[j] < first * (1 - 1e-12)) continue;
      for (Index i = 0; i < n; ++i) {
        const auto column = static_cast<Index>(j);
        EXPECT_EQ(result.solution.view()(i, column), guessed ? guess.view()(i, column) : 0);
      }
    }
  }
}

TEST_P(BlockCgStatus, AStopAmidTroubleGivesNoColumnThatIsWorseThanItBegan) {
  auto A = path(context_, 20, false);
  const Index b = GetParam() == CgAlgorithm::breakdown_free ? 4 : 1;  // with each, it shows late
  const auto B = random_vectors<double>(context_, 20, b);
  const auto whole = solve({&A, nullptr, B.view()});
  ASSERT_EQ(whole.status, SolveStatus::breakdown) << whole.reason;
  options_.max_iterations = whole.iterations - 1;
  const auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_GT(result.history.back().worst_residual, 1e4);
  for (const double residual : result.residuals) EXPECT_LE(residual, 1 + 1e-12);
}

TEST_P(BlockCgStatus, ASingularSystemWithASolutionIsSolved) {
  DiagonalOperator<double> A(counting(300, 0));
  auto B = random_vectors<double>(context_, 300, 4);
  for (Index j = 0; j < 4; ++j) B.view()(0, j) = 0;
  const auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
}

TEST_P(BlockCgStatus, NumbersThatAreNotFiniteBreakDown) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto A = make_operator<double>(context_, {"laplace2d", {15, 16}});
  auto B = random_vectors<double>(context_, A.rows(), 3);
  std::vector<double> diagonal = counting(A.rows());
  diagonal[100] = nan;
  DiagonalOperator<double> broken(diagonal);
  EXPECT_EQ(solve({&broken, nullptr, B.view()}).status, SolveStatus::breakdown);
  EXPECT_EQ(solve({&A, &broken, B.view()}).status, SolveStatus::breakdown);
  const auto guess = random_vectors<double>(context_, A.rows(), 3);
  EXPECT_EQ(solve({&broken, nullptr, B.view(), guess.view()}).status, SolveStatus::breakdown);
  B.view()(7, 1) = nan;
  EXPECT_EQ(solve({&A, nullptr, B.view()}).status, SolveStatus::breakdown);
}

TEST_P(BlockCgStatus, ANumberThatIsNotFiniteIsTheWorstResidual) {
  // In the first column alone, which others follow.
  FunctionOperator A(200, [](ConstBlockView<double, HostSpace> X, BlockView<double, HostSpace> Y) {
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = (1 + static_cast<double>(i)) * X(i, j);
    }
    Y(100, 0) = std::numeric_limits<double>::quiet_NaN();
  });
  const auto B = random_vectors<double>(context_, 200, 3);
  const auto guess = random_vectors<double>(context_, 200, 3, 1);
  const auto result = solve({&A, nullptr, B.view(), guess.view()});
  EXPECT_EQ(result.status, SolveStatus::breakdown);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_TRUE(std::isnan(result.history.front().worst_residual));
  EXPECT_EQ(result.reason.find("worst residual"), std::string::npos) << result.reason;
}

TEST_P(BlockCgStatus, AnOperatorThatChangesFailsVerification) {
  Index calls = 0;
  FunctionOperator A(200, [&](ConstBlockView<double, HostSpace> X, BlockView<double, HostSpace> Y) {
    const double drift = 1 + 0.01 * static_cast<double>(calls++ % 7);
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) {
        Y(i, j) = drift * (1 + static_cast<double>(i % 3)) * X(i, j);
      }
    }
  });
  const auto B = random_vectors<double>(context_, 200, 3);
  const auto result = solve({&A, nullptr, B.view()});
  EXPECT_EQ(result.status, SolveStatus::verification_failed) << result.reason;
}

INSTANTIATE_TEST_SUITE_P(Both, BlockCgStatus,
                         ::testing::Values(CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block),
                         [](const auto& info) {
                           return info.param == CgAlgorithm::breakdown_free
                                      ? std::string("BreakdownFree")
                                      : std::string("PseudoBlock");
                         });

/// The message of the InvalidArgument that a solve throws, empty if it throws none.
std::string complaint(const LinearSystem<double, HostContext>& system,
                      const BlockCgOptions& options = {}) {
  HostContext context;
  try {
    block_cg<double, HostContext>(context, system, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(BlockCgMisuse, ShapesThatDoNotFitAreNamed) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {5, 6}});
  DiagonalOperator<double> M(counting(29));
  const auto B = random_vectors<double>(context, 30, 3);
  const auto short_B = random_vectors<double>(context, 29, 3);
  EXPECT_EQ(complaint({nullptr, nullptr, B.view()}), "block_cg: the system has no A");
  EXPECT_EQ(complaint({&A, &M, B.view()}),
            "block_cg: the preconditioner must be 30x30 like A, it is 29x29");
  EXPECT_EQ(complaint({&A, nullptr, short_B.view()}),
            "block_cg: B must have A's 30 rows and at least one column, it is 29x3");
  EXPECT_EQ(complaint({&A, nullptr, B.columns(0, 0)}),
            "block_cg: B must have A's 30 rows and at least one column, it is 30x0");
  EXPECT_EQ(complaint({&A, nullptr, B.view(), B.columns(0, 2)}),
            "block_cg: the initial guess must be 30x3 like B, it is 30x2");
}

/// One process's part of a matrix.
class Part final : public LinearOperator<double, HostContext> {
 public:
  Part(const RowRange& rows, const RowRange& columns) : LinearOperator(rows, columns) {}

 private:
  void apply_block(HostContext&, ConstBlockView<double, HostSpace>,
                   BlockView<double, HostSpace>) override {}
};

TEST(BlockCgMisuse, TheOrderIsThatOfTheProblemAndBlocksHaveTheRowsOfThisProcess) {
  HostContext context;
  const auto B = random_vectors<double>(context, 30, 3);
  const auto short_B = random_vectors<double>(context, 29, 3);
  Part wide({30, 30, 100}, {30, 30, 90}), shifted({30, 30, 100}, {0, 30, 100});
  EXPECT_EQ(complaint({&wide, nullptr, B.view()}), "block_cg: A must be square, it is 100x90");
  EXPECT_EQ(complaint({&shifted, nullptr, B.view()}),
            "block_cg: A must keep rows 30 to 60 of X in this process, it keeps 0 to 30");
  Part square({30, 30, 100}, {30, 30, 100});
  EXPECT_EQ(complaint({&square, nullptr, short_B.view()}),
            "block_cg: B must have A's 30 rows and at least one column, it is 29x3");
}

TEST(BlockCgMisuse, OptionsOutOfRangeAreNamed) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {5, 6}});
  const auto B = random_vectors<double>(context, 30, 3);
  const auto with = [&](auto&& change) {
    BlockCgOptions options;
    change(options);
    return complaint({&A, nullptr, B.view()}, options);
  };
  for (const double tolerance : {-1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const auto message = with([&](BlockCgOptions& options) { options.tolerance = tolerance; });
    EXPECT_NE(message.find("the tolerance must lie in (0, 1), it is"), std::string::npos);
  }
  EXPECT_EQ(with([](BlockCgOptions& options) { options.criterion = LinearCriterion::absolute; }),
            "block_cg: an absolute tolerance must be positive, it is 0");
  EXPECT_EQ(with([](BlockCgOptions& options) { options.max_iterations = -1; }),
            "block_cg: max_iterations must not be negative, it is -1");
  EXPECT_EQ(with([](BlockCgOptions& options) { options.time_limit_s = -1; }),
            "block_cg: the time limit must not be negative, it is -1 s");
  EXPECT_EQ(with([](BlockCgOptions& options) { options.refresh_interval = 0; }),
            "block_cg: refresh_interval must be at least 1, it is 0");
}

}  // namespace
}  // namespace heddle
