#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <limits>
#include <thread>

#include "solvers/eigen_test_support.hpp"
#include "support/allocations.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;

BlockLanczosOptions options_for(Index nev, Which which = Which::largest) {
  BlockLanczosOptions options;
  options.nev = nev;
  options.which = which;
  return options;
}

TEST(BlockLanczosStatus, IterationsEndWithThePairsSoFar) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {40, 41}});
  BlockLanczosOptions options = options_for(6);
  options.max_iterations = 2;
  options.filter = LanczosFilter::none;
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_EQ(result.iterations, 2);
  EXPECT_EQ(result.history.size(), 2U);
  EXPECT_EQ(result.eigenvalues.size(), 6U);
  EXPECT_EQ(result.residuals.size(), 6U);
  EXPECT_LE(result.orthogonality, 1e-12);
}

TEST(BlockLanczosStatus, NoCycleIsBegunThatWouldTakeTooManyProducts) {
  HostContext context;
  std::vector<double> values = counting(400);
  for (double& value : values) value = std::pow(value / 400, 4);
  DiagonalOperator<double> A(values);
  BlockLanczosOptions options = options_for(4, Which::smallest);
  const auto free = block_lanczos<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(free.status, SolveStatus::converged) << free.reason;
  ASSERT_GT(free.operator_applications, 5000);
  for (const double limit : {1.0, 5000.0}) {
    options.max_applications = limit;
    const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
    EXPECT_EQ(result.status, SolveStatus::max_iterations) << result.reason;
    EXPECT_NE(result.reason.find("limit of operator applications"), std::string::npos);
    EXPECT_EQ(result.eigenvalues.size(), 4U);
    EXPECT_LT(result.operator_applications, 5000);
  }
  options.max_applications = 0;
  EXPECT_THROW((block_lanczos<double, HostContext>(context, {&A}, options)), InvalidArgument);
}

TEST(BlockLanczosStatus, TheClockEndsACycleEarly) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {40, 41}});
  BlockLanczosOptions options = options_for(6);
  options.time_limit_s = 0;
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::time_limit);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_FALSE(result.eigenvalues.empty());
}

TEST(BlockLanczosStatus, APolynomialIsLeftInItsMidstOnceTheTimeIsUp) {
  HostContext context;
  std::vector<double> values = counting(400);
  for (double& value : values) value = std::pow(value / 400, 4);
  constexpr int kStall = 6000;  // the product that outlasts the time limit, of one with thousands
  int products = 0;
  test::FunctionOperator A(400, [&](auto X, auto Y) {
    if (++products == kStall) std::this_thread::sleep_for(std::chrono::milliseconds(1700));
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = values[static_cast<std::size_t>(i)] * X(i, j);
    }
  });
  BlockLanczosOptions options;
  options.nev = 10;
  options.block_size = 2;
  options.tolerance = 1e-14;
  options.time_limit_s = 0.6;
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::time_limit) << result.reason;
  EXPECT_LE(products, kStall + 100);
  EXPECT_GT(result.iterations, 0);
}

TEST(BlockLanczosStatus, AFactorisationThatOutlastsTheTimeLimitIsNotBegun) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace3d", {30, 30, 30}});
  ShiftedInverse<double, HostContext> inverse(A.matrix());
  BlockLanczosOptions options;
  options.nev = 3;
  options.filter = LanczosFilter::inverse;
  for (const bool orders : {false, true}) {  // whether the limit leaves the time for the ordering
    options.time_limit_s =
        0.9 * (orders ? inverse.seconds_to_factor(context) : inverse.seconds_to_order(context));
    const auto result = block_lanczos<double, HostContext>(
        context, {.A = &A, .shifted_inverse = &inverse}, options);
    EXPECT_EQ(result.status, SolveStatus::time_limit) << result.reason;
    EXPECT_EQ(inverse.ordered(), orders);
    EXPECT_EQ(inverse.factor_entries(), 0);
    EXPECT_EQ(result.eigenvalues.size(), 3u);
  }
}

TEST(BlockLanczosStatus, TheMonitorSeesEachCycleAndMayStop) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {40, 41}});
  Index seen = 0;
  BlockLanczosOptions options = options_for(6);
  options.filter = LanczosFilter::none;
  const auto result =
      block_lanczos<double, HostContext>(context, {&A}, options, [&](const MonitorState& state) {
        EXPECT_EQ(state.record.iteration, ++seen);
        EXPECT_EQ(state.nev, 6);
        EXPECT_EQ(state.eigenvalues.size(), 6U);
        EXPECT_EQ(state.residuals.size(), 6U);
        return seen < 3;
      });
  EXPECT_EQ(result.status, SolveStatus::interrupted);
  EXPECT_EQ(result.iterations, 3);
  EXPECT_EQ(result.eigenvalues.size(), 6U);
}

TEST(BlockLanczosStatus, ProductsThatAreNotFiniteAreABreakdown) {
  HostContext context;
  for (const Index n : {60, 600}) {
    std::vector<double> diagonal = counting(n);
    diagonal[7] = std::numeric_limits<double>::quiet_NaN();
    DiagonalOperator<double> A(diagonal);
    const auto result = block_lanczos<double, HostContext>(context, {&A}, options_for(3));
    EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
  }
}

TEST(BlockLanczosStatus, AnIndefiniteMassMatrixIsToldApart) {
  HostContext context;
  for (const Index n : {60, 600}) {
    DiagonalOperator<double> A(counting(n));
    DiagonalOperator<double> B(counting(n, -5.5)),
        B_inverse(std::vector<double>(static_cast<std::size_t>(n), 1.0));
    EigenProblem<double, HostContext> problem{&A, &B};
    problem.B_inverse = &B_inverse;
    const auto result = block_lanczos<double, HostContext>(context, problem, options_for(3));
    EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
  }
}

TEST(BlockLanczosStatus, AToleranceBelowRoundingStagnatesWithTheBestPairs) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {25, 26}});
  BlockLanczosOptions options = options_for(4);
  options.tolerance = 1e-17;
  options.filter = LanczosFilter::none;
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  const auto expected = laplace_largest_eigenvalues({25, 26}, 4);
  ASSERT_EQ(result.eigenvalues.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(result.eigenvalues[i], expected[i], 1e-12);
}

/// 72 eigenvalues of this matrix lie within 10⁻³ of each other at the end of the spectrum. A
/// polynomial that tells them apart costs more than a dense solve.
TEST(BlockLanczosStatus, AnIterationThatCostsMoreThanADenseSolveIsReplacedByOne) {
  HostContext context;
  constexpr Index kOrder = 500;
  std::vector<double> diagonal(kOrder);
  for (Index i = 0; i < kOrder; ++i) {
    const auto k = static_cast<double>(i);
    diagonal[static_cast<std::size_t>(i)] = i % 7 == 0 ? 1000 + 2e-6 * k : k / kOrder;
  }
  test::DiagonalOperator<double> A(diagonal);
  BlockLanczosOptions options = options_for(4);
  options.criterion = Criterion::relative;
  for (const double tolerance : {1e-12, 1e-17}) {
    options.tolerance = tolerance;
    const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
    const bool exact = std::ranges::all_of(result.residuals, [](double r) { return r == 0; });
    EXPECT_EQ(result.status,
              tolerance > 1e-15 || exact ? SolveStatus::converged : SolveStatus::stagnated)
        << result.reason;
    EXPECT_LE(result.operator_applications, kOrder * kOrder);
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NEAR(result.eigenvalues.at(static_cast<std::size_t>(j)),
                  1000 + 2e-6 * static_cast<double>(497 - 7 * j), 1e-10);
    }
  }
}

/// 1 + 10⁻⁸ … 1 + 10⁻¹ in equal ratios: near to each wanted value lie more than the basis holds.
TEST(BlockLanczosStatus, ABasisThatHoldsTooFewOfManyNearValuesGrows) {
  HostContext context;
  std::vector<double> values;
  for (int j = 0; j < 150; ++j) values.push_back(1 + std::pow(10.0, -8 + 7 * j / 149.0));
  for (int j = 0; j < 1850; ++j) values.push_back(1.2 + 8.8 * j / 1849.0);
  BlockLanczosOptions options = options_for(8, Which::smallest);
  options.tolerance = 1e-9;
  options.filter = LanczosFilter::chebyshev;
  DiagonalOperator<double> A(values);
  Index seen = 0;
  const Monitor monitor = [&](const MonitorState& state) {
    EXPECT_EQ(state.record.iteration, ++seen);
    return true;
  };
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options, monitor);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_NE(result.reason.find("in which residuals stopped falling"), std::string::npos)
      << result.reason;
  EXPECT_EQ(result.iterations, seen);
  EXPECT_EQ(std::ssize(result.history), seen);
  EXPECT_EQ(result.operator_applications, A.columns_applied());
  for (std::size_t j = 0; j < 8; ++j) {
    EXPECT_NEAR(result.eigenvalues[j], values[j], result.error_bounds[j] + 1e-14);
    EXPECT_GE(result.history[j + 1].seconds, result.history[j].seconds);
  }
  // A limit just after the basis has grown leaves the pairs of the smaller one.
  options.max_iterations = std::stoi(result.reason.substr(std::string("after ").size())) + 1;
  const auto limited = block_lanczos<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(limited.status, SolveStatus::max_iterations) << limited.reason;
  EXPECT_EQ(limited.iterations, options.max_iterations);
  EXPECT_EQ(std::ssize(limited.history), options.max_iterations);
  EXPECT_NE(limited.reason.find("those of the smaller basis"), std::string::npos) << limited.reason;
  EXPECT_LT(*std::max_element(limited.residuals.begin(), limited.residuals.end()),
            limited.history.back().worst_residual);
  options.max_basis = block_lanczos_shape(options, 2000, false).max_basis;
  options.max_iterations = seen;
  const auto fixed = block_lanczos<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(fixed.status, SolveStatus::max_iterations) << fixed.reason;
}

/// Of values that an absolute tolerance takes for zeros, any may be found. The bound says so.
TEST(BlockLanczosStatus, BoundsOfValuesBelowAnAbsoluteToleranceHoldForTheFirst) {
  HostContext context;
  std::vector<double> values = {-6e-10, 6.8e-10, 6.83e-10, 8.2e-9};
  for (int j = 1; j <= 1500; ++j) values.push_back(j / 1500.0);
  DiagonalOperator<double> A(values);
  BlockLanczosOptions options = options_for(1, Which::smallest);
  options.block_size = 1;
  options.criterion = Criterion::absolute;
  options.tolerance = 1e-6;
  for (const LanczosFilter filter : {LanczosFilter::none, LanczosFilter::chebyshev}) {
    options.filter = filter;
    for (options.seed = 1; options.seed <= 10; ++options.seed) {
      const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      EXPECT_LE(std::abs(result.eigenvalues[0] - values[0]), result.error_bounds[0])
          << "seed " << options.seed;
      EXPECT_LE(result.error_bounds[0], options.tolerance);
    }
  }
}

TEST(BlockLanczosStatus, AWrongInverseOfBFailsVerification) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {20, 21}});
  DiagonalOperator<double> B(counting(420, 400));
  DiagonalOperator<double> wrong(std::vector<double>(420, 1.0 / 600));
  EigenProblem<double, HostContext> problem{&A, &B};
  problem.B_inverse = &wrong;
  const auto result = block_lanczos<double, HostContext>(context, problem, options_for(3));
  EXPECT_EQ(result.status, SolveStatus::verification_failed) << result.reason;
}

TEST(BlockLanczosStatus, AnIndefiniteBHasNoShiftedInverse) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {20, 21}});
  auto B = test::make_operator<double>(context, {"laplace2d", {20, 21}});
  HostCsrMatrix<double> negative = generate<double>(context, {"laplace2d", {20, 21}});
  for (Index e = 0; e < negative.nnz(); e += 2) negative.values()[e] *= -3;
  const SparseOperator<double, HostContext> indefinite(context, std::move(negative));
  ShiftedInverse<double, HostContext> inverse(indefinite.matrix(), indefinite.matrix());
  const auto result = block_lanczos<double, HostContext>(
      context, {.A = &A, .B = &B, .shifted_inverse = &inverse}, options_for(3, Which::smallest));
  EXPECT_EQ(result.status, SolveStatus::indefinite) << result.reason;
}

TEST(BlockLanczosStatus, MisuseIsToldWithBothSides) {
  HostContext context;
  DiagonalOperator<double> A(counting(300)), small(counting(20));
  using Problem = EigenProblem<double, HostContext>;
  const auto message = [&](const Problem& problem, const BlockLanczosOptions& options) {
    try {
      block_lanczos<double, HostContext>(context, problem, options);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto expect = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(message({}, options_for(2)), "no A");
  expect(message({&A}, options_for(301)), "between 1 and n = 300, it is 301");
  expect(message({&A}, options_for(0)), "it is 0");
  expect(message({&A, &A}, options_for(2)), "a pencil needs an inverse of B");
  expect(message({.A = &A, .B_inverse = &A}, options_for(2)), "B is missing");
  expect(message({&A, &small, nullptr, {}, {}, &A}, options_for(2)), "B must be 300x300");
  MultiVector<double, HostSpace> block(context, 300, 1), other(context, 20, 1);
  expect(message({&A, nullptr, nullptr, block.view()}, options_for(2)), "constraints");
  expect(message({&A, nullptr, nullptr, {}, other.view()}, options_for(2)), "20 rows");
  BlockLanczosOptions options = options_for(6);
  options.max_basis = 10;
  expect(message({&A}, options), "at least nev + 2 blocks = 22, it is 10");
  const auto matrix = generate<double>(context, {"laplace1d", {300}});
  ShiftedInverse<double, HostContext> inverse(matrix.view());
  options = options_for(6, Which::smallest);
  options.filter = LanczosFilter::inverse;
  expect(message({&A}, options), "needs a shifted inverse");
  options.which = Which::largest;
  expect(message({.A = &A, .shifted_inverse = &inverse}, options), "is for the smallest end");
  options = options_for(6, Which::smallest);
  options.filter = LanczosFilter::chebyshev;
  expect(message({.A = &A, .B = &A, .shifted_inverse = &inverse}, options), "an inverse of B");
  expect(message({.A = &small, .shifted_inverse = &inverse}, options_for(2)), "must be 20x20");
  options = options_for(6);
  options.tolerance = 2;
  expect(message({&A}, options), "it is 2");
  options = options_for(6);
  options.block_size = -1;
  expect(message({&A}, options), "it is -1");
  options = options_for(6);
  options.max_iterations = -1;
  expect(message({&A}, options), "it is -1");
  options = options_for(6);
  options.time_limit_s = std::numeric_limits<double>::quiet_NaN();
  expect(message({&A}, options), "time limit");
}

TEST(BlockLanczosAllocation, MemoryIsForetold) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace3d", {20, 21, 22}});
  const BlockLanczosOptions options = options_for(8);
  const double before = static_cast<double>(context.allocation_count().live_bytes);
  BlockLanczosWorkspace<double, HostContext> workspace;
  block_lanczos<double, HostContext>(context, {&A}, options, workspace);
  const double held = static_cast<double>(context.allocation_count().live_bytes) - before;
  const double foretold = block_lanczos_memory_bytes(options, A.rows(), false, sizeof(double));
  EXPECT_LE(held, 1.2 * foretold);
  EXPECT_GE(held, 0.7 * foretold);
}

/// A second solve with the same workspace takes nothing from the context and nothing from the heap.
void expect_no_allocation(HostContext& context, const EigenProblem<double, HostContext>& problem,
                          const BlockLanczosOptions& options) {
  BlockLanczosWorkspace<double, HostContext> workspace;
  const auto& result = block_lanczos(context, problem, options, workspace);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> values = result.eigenvalues;
  const std::size_t from_context = context.allocation_count().allocations;
  const std::size_t from_heap = test::heap_allocations();
  block_lanczos(context, problem, options, workspace);
  EXPECT_EQ(test::heap_allocations(), from_heap);
  EXPECT_EQ(context.allocation_count().allocations, from_context);
  EXPECT_EQ(result.eigenvalues, values);
}

TEST(BlockLanczosAllocation, ASecondSolveAllocatesNothing) {
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"laplace3d", {12, 13, 14}});
  expect_no_allocation(context, {&A}, options_for(8));
  expect_no_allocation(context, {&A}, options_for(30, Which::smallest));
}

TEST(BlockLanczosAllocation, NorForAPencil) {
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"laplace2d", {30, 31}});
  std::vector<double> mass = counting(930, 100);
  DiagonalOperator<double> B(mass);
  for (double& m : mass) m = 1 / m;
  DiagonalOperator<double> B_inverse(mass);
  EigenProblem<double, HostContext> problem{&A, &B};
  problem.B_inverse = &B_inverse;
  expect_no_allocation(context, problem, options_for(10));
}

}  // namespace
}  // namespace heddle
