#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <limits>
#include <string>

#include "solvers/eigen_test_support.hpp"
#include "solvers/interval/interval_test_support.hpp"
#include "support/sanitized.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::between;
using test::counting;
using test::DiagonalOperator;
using test::expect_values;
using test::interval;
using test::make_operator;

template <class T>
class Interval : public ::testing::Test {
 protected:
  HostContext context_;
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Interval, Scalars);

TYPED_TEST(Interval, HoldsAllAnalyticEigenvaluesOfLaplacians) {
  using T = TypeParam;
  struct Case {
    std::vector<Index> size;
    double lower, upper;
  };
  // In the square and the cube, eigenvalues have up to 2 and 6 copies.
  for (const Case& c : {Case{{600}, 1.0, 1.1}, Case{{24, 24}, 3.9, 4.1}, Case{{24, 24}, -1, 0.3},
                        Case{{9, 9, 9}, 4.5, 5.0}, Case{{9, 9, 9}, 11, 20}}) {
    SCOPED_TRACE(std::to_string(c.lower) + " … " + std::to_string(c.upper));
    auto A =
        make_operator<T>(this->context_, {"laplace" + std::to_string(c.size.size()) + "d", c.size});
    const auto expected = between(laplace_smallest_eigenvalues(c.size, A.rows()), c.lower, c.upper);
    ASSERT_GE(expected.size(), 2U);
    const auto result = interval_eigenpairs<T, HostContext>(
        this->context_, {&A}, interval(c.lower, c.upper, std::ssize(expected)));
    expect_values<T>(result, expected, *A.one_norm());
    const auto residuals =
        test::true_residuals<T>(A.matrix(), nullptr, result.eigenvalues,
                                result.eigenvectors.columns(0, std::ssize(result.eigenvalues)));
    for (const double residual : residuals) {
      EXPECT_LE(residual, 2 * kDefaultTolerance<T> * 2 * *A.one_norm());
    }
  }
}

TYPED_TEST(Interval, EndsBelongToIt) {
  using T = TypeParam;
  DiagonalOperator<T> A(counting(500));
  expect_values<T>(
      interval_eigenpairs<T, HostContext>(this->context_, {&A}, interval(100, 105, 10)),
      {100, 101, 102, 103, 104, 105}, 500);
  expect_values<T>(interval_eigenpairs<T, HostContext>(this->context_, {&A}, interval(1, 2.5, 10)),
                   {1, 2}, 500);
  expect_values<T>(interval_eigenpairs<T, HostContext>(this->context_, {&A}, interval(77, 77, 10)),
                   {77}, 500);
}

TYPED_TEST(Interval, AllCopiesOfAnEigenvalueAreFound) {
  using T = TypeParam;
  std::vector<double> diagonal = counting(300);
  for (std::size_t i = 100; i < 140; ++i) diagonal[i] = 120.5;
  DiagonalOperator<T> A(diagonal);
  IntervalOptions options = interval(118, 123, 50);
  options.block_size = 4;
  const auto result = interval_eigenpairs<T, HostContext>(this->context_, {&A}, options);
  expect_values<T>(result, std::vector<double>(40, 120.5), 300);
}

/// A round finds as many copies as the block has columns. Checks find that there are more.
TYPED_TEST(Interval, BlocksMayBeNarrowerThanEigenspaces) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"laplace3d", {9, 9, 9}});
  const auto expected = between(laplace_smallest_eigenvalues({9, 9, 9}, A.rows()), 4.5, 5.0);
  IntervalOptions options = interval(4.5, 5.0, 60);
  for (const Index block : {1, 2, 5}) {
    options.block_size = block;
    SCOPED_TRACE(block);
    expect_values<T>(interval_eigenpairs<T, HostContext>(this->context_, {&A}, options), expected,
                     12);
  }
}

/// An eigenvalue beside the interval is told from one at its end.
TYPED_TEST(Interval, NeighboursBeyondAnEndAreLeftOut) {
  using T = TypeParam;
  const double distance = 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  std::vector<double> diagonal = counting(600);
  for (std::size_t i = 0; i < diagonal.size(); i += 2) {
    diagonal[i + 1] = diagonal[i] * (1 + distance);
  }
  DiagonalOperator<T> A(diagonal);
  const double middle = 301 * (1 + 0.5 * distance);
  expect_values<T>(
      interval_eigenpairs<T, HostContext>(this->context_, {&A}, interval(299, middle, 10)),
      {299, 299 * (1 + distance), 301}, 600);
}

TYPED_TEST(Interval, WithoutEigenvaluesConvergesToAnEmptyList) {
  using T = TypeParam;
  std::vector<double> gap = counting(300);
  for (std::size_t i = 0; i < gap.size(); ++i) gap[i] += i < 150 ? 0 : 40;
  DiagonalOperator<T> A(gap);
  for (const auto& [lower, upper] : {std::pair(155.0, 185.0), std::pair(60.2, 60.8),
                                     std::pair(-90.0, -50.0), std::pair(700.0, 1e6)}) {
    SCOPED_TRACE(lower);
    const auto result =
        interval_eigenpairs<T, HostContext>(this->context_, {&A}, interval(lower, upper, 5));
    expect_values<T>(result, {}, 340);
  }
}

TYPED_TEST(Interval, SmallProblemsAreSolvedAsDenseOnes) {
  using T = TypeParam;
  auto A = make_operator<T>(this->context_, {"laplace2d", {8, 9}});
  const auto expected = between(laplace_smallest_eigenvalues({8, 9}, 72), 2, 5);
  expect_values<T>(interval_eigenpairs<T, HostContext>(this->context_, {&A}, interval(2, 5, 72)),
                   expected, 8);
  DiagonalOperator<T> one({3.0});
  expect_values<T>(interval_eigenpairs<T, HostContext>(this->context_, {&one}, interval(0, 5, 1)),
                   {3}, 3);
}

/// Filters that tell so narrow an interval from its surroundings have degrees in the thousands.
TEST(IntervalDense, NarrowIntervalsOfSmallProblemsAreSolvedAsDenseOnes) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace1d", {400}});
  const std::vector<double> all = laplace_smallest_eigenvalues({400}, 399);
  for (const double width : {1e-3, 1e-9}) {
    const double a = all[130] - width;
    const double b = all[130] + width;
    const auto result =
        interval_eigenpairs<double, HostContext>(context, {.A = &A}, interval(a, b, 5));
    expect_values<double>(result, between(all, a, b), 4);
    EXPECT_LE(result.operator_applications, 3 * 400);
  }
}

/// Filters of the highest degree hardly separate eigenvalues over nine decades.
TEST(IntervalDense, ADenseSolveFollowsFiltersThatCostMore) {
  HEDDLE_SKIP_WITH_SANITIZER();
  HostContext context;
  std::vector<double> values(600);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::pow(10.0, -3 + 9 * static_cast<double>(i) / 599);
  }
  DiagonalOperator<double> A(values);
  IntervalOptions options = interval(1, 2, 40);
  const auto result = interval_eigenpairs<double, HostContext>(context, {.A = &A}, options);
  expect_values<double>(result, between(values, 1, 2), 1e6);
  EXPECT_LE(result.operator_applications, 600 * 600);
  options.dense_bytes = 1e6;
  options.max_iterations = 3;
  const auto filtered = interval_eigenpairs<double, HostContext>(context, {.A = &A}, options);
  EXPECT_EQ(filtered.status, SolveStatus::max_iterations);
  EXPECT_GT(filtered.operator_applications, 600 * 600) << "its dense solve takes 17 MB";
}

TEST(IntervalDense, EndsMayBeInfinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  HostContext context;
  auto grid = make_operator<double>(context, {"laplace2d", {20, 21}});
  const std::vector<double> all = laplace_smallest_eigenvalues({20, 21}, 420);
  DiagonalOperator<double> diagonal(all);
  ASSERT_FALSE(diagonal.one_norm());
  const std::array<LinearOperator<double, HostContext>*, 2> operators = {&grid, &diagonal};
  for (LinearOperator<double, HostContext>* A : operators) {
    const auto pairs = [&](double a, double b, Index nev) {
      return interval_eigenpairs<double, HostContext>(context, {.A = A}, interval(a, b, nev));
    };
    expect_values<double>(pairs(-kInfinity, 0.3, 20), between(all, -1, 0.3), 8);
    expect_values<double>(pairs(7.8, kInfinity, 20), between(all, 7.8, 9), 8);
    expect_values<double>(pairs(-kInfinity, kInfinity, 420), all, 8);
  }
}

TEST(IntervalStatus, BeyondTheSpectrumNothingIsIteratedOn) {
  HostContext context;
  DiagonalOperator<double> A(counting(400));
  for (const auto& [lower, upper] : {std::pair{1e3, 2e3}, {-2e3, -1e3}}) {
    const auto result =
        interval_eigenpairs<double, HostContext>(context, {&A}, interval(lower, upper, 4));
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.eigenvalues.empty());
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(result.eigenvectors.rows(), 400);
    EXPECT_EQ(result.eigenvectors.cols(), 0);
  }
}

TEST(IntervalStatus, MoreEigenvaluesThanAskedForAreToldInTheReason) {
  HostContext context;
  for (const Index n : {100, 400}) {
    DiagonalOperator<double> A(counting(n));
    for (const double upper : {54.0, 99.0}) {
      const auto result =
          interval_eigenpairs<double, HostContext>(context, {&A}, interval(50, upper, 4));
      EXPECT_EQ(result.status, SolveStatus::max_iterations) << result.reason;
      EXPECT_NE(result.reason.find("more than nev = 4"), std::string::npos) << result.reason;
      EXPECT_LE(result.eigenvalues.size(), 4U);
    }
  }
}

TEST(IntervalStatus, AnIntervalThatIsMuchTooCrowdedIsNotIteratedOn) {
  HostContext context;
  DiagonalOperator<double> A(counting(3000));
  const auto result =
      interval_eigenpairs<double, HostContext>(context, {&A}, interval(500, 900, 60));
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_NE(result.reason.find("more than nev = 60"), std::string::npos) << result.reason;
  EXPECT_TRUE(result.eigenvalues.empty());
  EXPECT_LE(result.operator_applications, 1000);  // the density alone
}

TEST(IntervalProducts, AreFarFewerThanThoseOfFilteredSubspaceIteration) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace3d", {20, 20, 20}});
  const auto result =
      interval_eigenpairs<double, HostContext>(context, {&A}, interval(0.9, 1.03, 40));
  expect_values<double>(
      result, between(laplace_smallest_eigenvalues({20, 20, 20}, A.rows()), 0.9, 1.03), 12);
  EXPECT_LE(result.operator_applications, 20'000);
}

TEST(IntervalStatus, LimitsAndTheMonitorEndASolve) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {24, 25}});
  IntervalOptions options = interval(3, 3.2, 40);
  options.max_iterations = 1;
  auto result = interval_eigenpairs<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_EQ(result.history.size(), 1U);
  options = interval(3, 3.2, 40);
  options.time_limit_s = 0;
  EXPECT_EQ((interval_eigenpairs<double, HostContext>(context, {&A}, options).status),
            SolveStatus::time_limit);
  options = interval(3, 3.2, 40);
  Index seen = 0;
  result = interval_eigenpairs<double, HostContext>(
      context, {&A}, options, [&](const MonitorState& state) {
        EXPECT_EQ(state.record.iteration, ++seen);
        EXPECT_EQ(state.eigenvalues.size(), state.residuals.size());
        return false;
      });
  EXPECT_EQ(result.status, SolveStatus::interrupted);
}

TEST(IntervalStatus, TheTimeLimitEndsAFilter) {
  HostContext context;
  // The basis takes 100 000 products.
  DiagonalOperator<double> A(counting(3000));
  IntervalOptions options = interval(500, 900, 500);
  options.time_limit_s = 0.05;
  const auto result = interval_eigenpairs<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::time_limit) << result.reason;
  EXPECT_LE(result.iterations, 1);
  EXPECT_LT(result.operator_applications, 100'000);
  EXPECT_LE(result.orthogonality, test::tolerance<double>(1, 3000));
  for (const double value : result.eigenvalues) {
    EXPECT_GE(value, 500);
    EXPECT_LE(value, 900);
  }
}

TEST(IntervalStatus, ARequestEndsTheEstimateOfTheDensityAndAFilter) {
  HostContext context;
  for (const Index polls : {1, 40, 3000}) {
    auto A = make_operator<double>(context, {"laplace1d", {3000}});
    IntervalOptions options = interval(1.9999, 2.0001, 20);
    Index asked = 0;
    Monitor monitor;
    monitor.stop = [&] { return ++asked >= polls; };
    const auto result = interval_eigenpairs<double, HostContext>(context, {&A}, options, monitor);
    EXPECT_EQ(result.status, SolveStatus::interrupted) << result.reason;
    EXPECT_EQ(asked >= polls, true);
    EXPECT_LE(asked, polls + 10) << "asked on instead of ending";
  }
}

TEST(IntervalStatus, AToleranceBelowRoundingStagnatesWithThePairs) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {17, 18}});
  IntervalOptions options = interval(3, 3.4, 40);
  options.tolerance = 1e-18;
  const auto result = interval_eigenpairs<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  const auto expected = between(laplace_smallest_eigenvalues({17, 18}, 306), 3, 3.4);
  ASSERT_EQ(result.eigenvalues.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i], test::tolerance<double>(8, 306));
  }
}

TEST(IntervalStatus, ProductsThatAreNotFiniteAreABreakdown) {
  HostContext context;
  for (const Index n : {60, 600}) {
    std::vector<double> diagonal = counting(n);
    diagonal[7] = std::numeric_limits<double>::quiet_NaN();
    DiagonalOperator<double> A(diagonal);
    const auto result = interval_eigenpairs<double, HostContext>(context, {&A}, interval(3, 9, 10));
    EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
  }
}

TEST(IntervalStatus, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<std::vector<double>> values;
  for (const int threads : {1, 2}) {
    HostContext context(threads);
    auto A = make_operator<double>(context, {"laplace2d", {24, 25}});
    const auto result =
        interval_eigenpairs<double, HostContext>(context, {&A}, interval(2, 2.1, 40));
    values.push_back(result.eigenvalues);
    values.push_back(result.residuals);
  }
  EXPECT_EQ(values[0], values[2]);
  EXPECT_EQ(values[1], values[3]);
}

TEST(IntervalAllocation, ASteadyIterationAllocatesNothing) {
  HostContext context(2);
  auto A = make_operator<double>(context, {"laplace2d", {24, 25}});
  IntervalOptions options = interval(2, 2.1, 40);
  options.tolerance = 1e-12;
  interval_eigenpairs<double, HostContext>(context, {&A}, options);  // scratch memory grows
  std::vector<std::size_t> from_context;
  const auto result =
      interval_eigenpairs<double, HostContext>(context, {&A}, options, [&](const MonitorState&) {
        from_context.push_back(context.allocation_count().allocations);
        return true;
      });
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_GE(from_context.size(), 2U);
  EXPECT_EQ(from_context.front(), context.allocation_count().allocations);
}

/// What a solve takes at most is below the estimate; not far below it if `tight`, as where X has as
/// many columns as it may.
template <Scalar T>
void expect_memory_foretold(LinearOperator<T, HostContext>& A, HostContext& context,
                            IntervalOptions options, bool tight) {
  options.time_limit_s = 0;  // all memory is there before the first filter
  SCOPED_TRACE(::testing::Message() << "order " << A.rows() << ", nev " << options.nev);
  const auto before = static_cast<double>(context.allocation_count().live_bytes);
  interval_eigenpairs<T, HostContext>(context, {&A}, options);
  const double peak = static_cast<double>(context.allocation_count().peak_bytes) - before;
  const double foretold = interval_memory_bytes(options, A.rows(), sizeof(T));
  EXPECT_LE(peak, foretold);
  if (tight) {
    EXPECT_GE(peak, 0.5 * foretold);
  }
}

TYPED_TEST(Interval, MemoryIsForetold) {
  using T = TypeParam;
  const auto foretold = [](auto&& make, const IntervalOptions& options, bool tight) {
    HostContext context(2);  // the scratch memory of each thread is not in the estimate
    auto A = make(context);
    expect_memory_foretold<T>(A, context, options, tight);
  };
  const auto grid = [](HostContext& context) {
    return make_operator<T>(context, {"laplace3d", {12, 13, 14}});
  };
  const auto small = [](HostContext& context) {
    return make_operator<T>(context, {"laplace2d", {10, 11}});
  };
  const auto no_sums = [](HostContext&) { return DiagonalOperator<T>(counting(3000)); };
  foretold(grid, interval(4, 4.1, 40), false);
  foretold(grid, interval(4, 4.6, 120), true);
  foretold(no_sums, interval(2, 7, 6), false);
  foretold(no_sums, interval(500, 560, 61), false);
  foretold(small, interval(2, 7, 80), true);
}

TEST(IntervalStatus, MisuseIsToldWithBothSides) {
  HostContext context;
  DiagonalOperator<double> A(counting(300));
  using Problem = EigenProblem<double, HostContext>;
  const auto expect = [&](const Problem& problem, const IntervalOptions& options,
                          const std::string& part) {
    try {
      interval_eigenpairs<double, HostContext>(context, problem, options);
      ADD_FAILURE() << "no error: " << part;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  expect({}, interval(0, 1, 2), "no A");
  expect({&A, &A}, interval(0, 1, 2), "B is 300x300");
  expect({&A}, interval(2, 1, 2), "they are 2 and 1");
  expect({&A}, interval(0, std::numeric_limits<double>::quiet_NaN(), 2), "they are 0 and nan");
  expect({&A}, interval(0, 1, 0), "it is 0");
  expect({&A}, interval(0, 1, 301), "n = 300, it is 301");
  MultiVector<double, HostSpace> block(context, 300, 1);
  expect({&A, nullptr, nullptr, block.view()}, interval(0, 1, 2), "constraints");
  IntervalOptions options = interval(0, 1, 2);
  options.tolerance = 2;
  expect({&A}, options, "it is 2");
  options = interval(0, 1, 2);
  options.block_size = -1;
  expect({&A}, options, "it is -1");
  options = interval(0, 1, 2);
  options.max_iterations = -1;
  expect({&A}, options, "it is -1");
  options = interval(0, 1, 2);
  options.time_limit_s = std::numeric_limits<double>::quiet_NaN();
  expect({&A}, options, "time limit");
}

}  // namespace
}  // namespace heddle
