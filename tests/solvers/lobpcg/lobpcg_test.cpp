#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <limits>
#include <numeric>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::expect_pairs;
using test::make_operator;

template <class T>
class LobpcgTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(LobpcgTyped, Scalars);

LobpcgOptions options_for(Index nev, Which which = Which::smallest) {
  LobpcgOptions options;
  options.nev = nev;
  options.which = which;
  return options;
}

TYPED_TEST(LobpcgTyped, LaplaciansHaveTheirAnalyticSpectraAtBothEnds) {
  HostContext context;
  for (const std::vector<Index>& size :
       {std::vector<Index>{400}, std::vector<Index>{20, 21}, std::vector<Index>{8, 9, 10}}) {
    auto A =
        make_operator<TypeParam>(context, {"laplace" + std::to_string(size.size()) + "d", size});
    for (const Which which : {Which::smallest, Which::largest}) {
      LobpcgOptions options = options_for(8, which);
      options.max_iterations = 5000;
      const auto result = lobpcg<TypeParam, HostContext>(context, {&A}, options);
      const auto expected = which == Which::smallest ? laplace_smallest_eigenvalues(size, 8)
                                                     : laplace_largest_eigenvalues(size, 8);
      expect_pairs<TypeParam>(A.matrix(), *A.one_norm(), result, expected,
                              kDefaultTolerance<TypeParam>);
    }
  }
}

TYPED_TEST(LobpcgTyped, SmallOrdersAreSolvedAtOnce) {
  HostContext context;
  auto A = make_operator<TypeParam>(context, {"laplace1d", {30}});
  const auto result = lobpcg<TypeParam, HostContext>(context, {&A}, options_for(29));
  expect_pairs<TypeParam>(A.matrix(), *A.one_norm(), result, laplace_smallest_eigenvalues({30}, 29),
                          kDefaultTolerance<TypeParam>);
  EXPECT_EQ(result.iterations, 0);
}

TEST(Lobpcg, FindsEveryCopyOfAMultipleEigenvalueWithASmallBlock) {
  HostContext context;
  std::vector<double> diagonal = counting(600, 10);
  std::fill_n(diagonal.begin() + 50, 12, 1.0);
  DiagonalOperator<double> A(diagonal);
  LobpcgOptions options = options_for(14);
  options.block_size = 4;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(result.eigenvalues[i], 1, 1e-5);
  EXPECT_NEAR(result.eigenvalues[12], 10, 1e-5);
  EXPECT_NEAR(result.eigenvalues[13], 11, 1e-5);
}

TEST(Lobpcg, LocksHundredsOfPairsWithAModestBlock) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {25, 26}});
  LobpcgOptions options = options_for(150);
  options.block_size = 20;
  options.max_iterations = 5000;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  expect_pairs<double>(A.matrix(), *A.one_norm(), result,
                       laplace_smallest_eigenvalues({25, 26}, 150), 1e-8);
}

TEST(Lobpcg, ABlockWiderThanTheSpaceIsTheSpace) {
  LobpcgOptions options = options_for(6);
  for (const Index block : {Index{1000}, Index{1} << 61, std::numeric_limits<Index>::max()}) {
    options.block_size = block;
    EXPECT_EQ(lobpcg_block_size(options, 1000, 3), 997) << block;
  }
  options.block_size = 0;
  options.nev = std::numeric_limits<Index>::max();
  EXPECT_EQ(lobpcg_block_size(options, 1000, 3), 997);
}

TEST(Lobpcg, EveryBlockSizeGivesTheSameValues) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {25, 26}});
  const auto expected = laplace_smallest_eigenvalues({25, 26}, 6);
  for (const Index block : {1, 2, 5, 6, 7, 16}) {
    LobpcgOptions options = options_for(6);
    options.block_size = block;
    options.max_iterations = 5000;
    // By the default criterion, blocks without guard vectors may wait for thousands of iterations.
    options.criterion = Criterion::norm;
    const auto result = lobpcg<double, HostContext>(context, {&A}, options);
    SCOPED_TRACE(block);
    expect_pairs<double>(A.matrix(), *A.one_norm(), result, expected, 1e-8);
  }
}

TEST(Lobpcg, SolvesThePencilOfAMikotaChain) {
  HostContext context;
  auto K = make_operator<double>(context, {"mikota_stiffness", {400}});
  auto M = make_operator<double>(context, {"mikota_mass", {400}});
  JacobiPreconditioner<double, HostContext> jacobi(context, K.matrix());
  LobpcgOptions options = options_for(5);
  options.max_iterations = 5000;
  options.criterion = Criterion::relative;
  const auto result = lobpcg<double, HostContext>(context, {&K, &M, &jacobi}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t k = 0; k < 5; ++k) {
    const double expected = static_cast<double>((k + 1) * (k + 1));
    EXPECT_NEAR(result.eigenvalues[k], expected, 1e-6 * expected);
  }
  EXPECT_LE(result.orthogonality, test::tolerance<double>(1, 400));
}

TEST(Lobpcg, ConstraintsHideWhatTheySpan) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace1d", {500}});
  LobpcgOptions options = options_for(3);
  options.max_iterations = 5000;
  const auto first = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(first.status, SolveStatus::converged) << first.reason;
  EigenProblem<double, HostContext> problem{&A};
  problem.constraints = first.eigenvectors.view();
  const auto next = lobpcg<double, HostContext>(context, problem, options);
  ASSERT_EQ(next.status, SolveStatus::converged) << next.reason;
  const auto expected = laplace_smallest_eigenvalues({500}, 6);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(next.eigenvalues[i], expected[i + 3], 1e-7);
  EXPECT_LE(test::largest_product<double>(first.eigenvectors.view(), next.eigenvectors.view()),
            test::tolerance<double>(1, 500));
}

TEST(Lobpcg, ConstraintsWorkInASmallSpace) {
  HostContext context;
  DiagonalOperator<double> A(counting(12));
  MultiVector<double, HostSpace> constraints(context, 12, 2);
  set_zero(context, constraints.view());
  constraints.view()(0, 0) = 3;
  constraints.view()(4, 1) = -2;
  EigenProblem<double, HostContext> problem{&A};
  problem.constraints = constraints.view();
  const auto result = lobpcg<double, HostContext>(context, problem, options_for(4));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> expected = {2, 3, 4, 6};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(result.eigenvalues[i], expected[i], 1e-12);
}

/// What rounding leaves of a unit vector in the span of the constraints is that vector again.
TEST(Lobpcg, ConstraintsThatSpanUnitVectorsAreKept) {
  for (const double angle : {6.85e-4, 1e-5, 0.01, 0.3}) {
    HostContext context;
    DiagonalOperator<double> A(counting(12));
    MultiVector<double, HostSpace> constraints(context, 12, 2);
    set_zero(context, constraints.view());
    constraints.view()(0, 0) = constraints.view()(4, 1) = std::cos(angle);
    constraints.view()(4, 0) = std::sin(angle);
    constraints.view()(0, 1) = -std::sin(angle);
    EigenProblem<double, HostContext> problem{&A};
    problem.constraints = constraints.view();
    const auto result = lobpcg<double, HostContext>(context, problem, options_for(4));
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const std::vector<double> expected = {2, 3, 4, 6};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(result.eigenvalues[i], expected[i], 1e-12);
    EXPECT_LE(test::largest_product<double>(constraints.view(), result.eigenvectors.view()),
              test::tolerance<double>(1, 12));
  }
}

/// Locked eigenvectors take the places of constraints that depend on others.
TEST(Lobpcg, DependentConstraintsHideNoEigenvectors) {
  HostContext context;
  DiagonalOperator<double> A(counting(300));
  MultiVector<double, HostSpace> constraints(context, 300, 3);
  set_zero(context, constraints.view());
  for (Index j = 0; j < 3; ++j) constraints.view()(4, j) = static_cast<double>(j + 1);
  EigenProblem<double, HostContext> problem{&A};
  problem.constraints = constraints.view();
  LobpcgOptions options = options_for(6);
  options.block_size = 4;
  options.max_iterations = 5000;
  const auto result = lobpcg<double, HostContext>(context, problem, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> expected = {1, 2, 3, 4, 6, 7};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(result.eigenvalues[i], expected[i], 1e-7);
}

TEST(Lobpcg, AnInitialGuessSavesProducts) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {30, 31}});
  const LobpcgOptions options = options_for(5);
  const auto cold = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = cold.eigenvectors.view();
  const auto warm = lobpcg<double, HostContext>(context, problem, options);
  ASSERT_EQ(warm.status, SolveStatus::converged) << warm.reason;
  EXPECT_LT(3 * warm.operator_applications, 2 * cold.operator_applications);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(warm.eigenvalues[i], cold.eigenvalues[i], 1e-10);
  }
}

/// Guesses need evidence of the guard vectors, which for a cluster wider than the block comes late.
/// Random numbers, which callers pass who know nothing, shall not pay for it.
TEST(Lobpcg, ARandomGuessCostsNoMoreThanNone) {
  HostContext context;
  std::vector<double> diagonal = counting(600, 600);
  for (double& value : diagonal) value /= 300;  // from 2 to 4
  for (std::size_t i = 0; i < 20; ++i) diagonal[10 * i] = 1 + 1e-3 * static_cast<double>(i);
  DiagonalOperator<double> A(diagonal);
  LobpcgOptions options = options_for(3);
  options.criterion = Criterion::norm;
  options.tolerance = 1e-5;
  const auto cold = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
  MultiVector<double, HostSpace> guess(context, 600, 3);
  fill_random(context, 7, 0, guess.view());
  for (const double offset : {0.0, 1.0}) {  // normal numbers, and positive ones
    for (Index i = 0; i < 600; ++i) {
      for (Index j = 0; j < 3; ++j) guess.view()(i, j) += offset;
    }
    EigenProblem<double, HostContext> problem{&A};
    problem.initial_guess = guess.view();
    const auto result = lobpcg<double, HostContext>(context, problem, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_LT(10 * result.operator_applications, 13 * cold.operator_applications);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(result.eigenvalues[i], 1 + 1e-3 * static_cast<double>(i), 1e-4);
    }
  }
}

TEST(Lobpcg, AGuessWithErrorsSavesProducts) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {30, 31}});
  const LobpcgOptions options = options_for(5);
  const auto cold = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
  MultiVector<double, HostSpace> guess(context, 930, 5);
  fill_random(context, 7, 0, guess.view());
  axpby<double>(context, 1, cold.eigenvectors.view().columns(0, 5), 1e-3, guess.view());
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = guess.view();
  const auto warm = lobpcg<double, HostContext>(context, problem, options);
  ASSERT_EQ(warm.status, SolveStatus::converged) << warm.reason;
  EXPECT_LT(10 * warm.operator_applications, 9 * cold.operator_applications);
}

TEST(Lobpcg, AnExactGuessOfOtherPairsIsNotTakenForTheWantedOnes) {
  HostContext context;
  DiagonalOperator<double> A(counting(600));
  MultiVector<double, HostSpace> guess(context, 600, 12);
  set_zero(context, guess.view());
  for (Index j = 0; j < 12; ++j) guess.view()(11 - j, j) = 1;  // e_12 … e_1
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = guess.view();
  const auto result = lobpcg<double, HostContext>(context, problem, options_for(3));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.eigenvalues[i], static_cast<double>(i + 1), 1e-6);
  }
}

TEST(Lobpcg, FindsMoreCopiesThanTheBlockHasColumns) {
  HostContext context;
  std::vector<double> diagonal = counting(500, 2);
  std::fill_n(diagonal.begin() + 200, 60, 1.0);
  DiagonalOperator<double> A(diagonal);
  const LobpcgOptions options = options_for(36);
  ASSERT_LT(lobpcg_block_size(options, 500, 0), 60);
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (const double value : result.eigenvalues) EXPECT_NEAR(value, 1, 1e-5);
}

TEST(Lobpcg, ADependentInitialGuessIsCompletedAtRandom) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  MultiVector<double, HostSpace> guess(context, 420, 3);
  for (Index i = 0; i < 420; ++i) {
    for (Index j = 0; j < 3; ++j) guess.view()(i, j) = 1;
  }
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = guess.view();
  const auto result = lobpcg<double, HostContext>(context, problem, options_for(5));
  expect_pairs<double>(A.matrix(), *A.one_norm(), result, laplace_smallest_eigenvalues({20, 21}, 5),
                       1e-8);
}

TEST(Lobpcg, CriteriaMeanWhatTheySay) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace1d", {300}});
  for (const Criterion criterion : {Criterion::norm, Criterion::relative, Criterion::absolute}) {
    LobpcgOptions options = options_for(3);
    options.criterion = criterion;
    options.tolerance = 1e-6;
    options.max_iterations = 5000;
    const auto result = lobpcg<double, HostContext>(context, {&A}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const auto residuals = test::true_residuals<double>(A.matrix(), nullptr, result.eigenvalues,
                                                        result.eigenvectors.view());
    for (std::size_t i = 0; i < 3; ++i) {
      const double lambda = std::abs(result.eigenvalues[i]);
      const double scale = criterion == Criterion::norm       ? *A.one_norm() + lambda
                           : criterion == Criterion::relative ? lambda
                                                              : 1;
      EXPECT_LE(residuals[i], 1e-6 * scale * (1 + 1e-9));
    }
  }
}

TEST(Lobpcg, AnAbsoluteToleranceMayExceedOne) {
  HostContext context;
  std::vector<double> diagonal = counting(400);
  for (double& d : diagonal) d *= 1e8;
  DiagonalOperator<double> A(diagonal);
  LobpcgOptions options = options_for(4);
  options.criterion = Criterion::absolute;
  options.tolerance = 1e4;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (Index i = 0; i < 4; ++i) {
    const double lambda = result.eigenvalues[static_cast<std::size_t>(i)];
    double square = 0;
    for (Index row = 0; row < 400; ++row) {
      const double x = result.eigenvectors.view()(row, i);
      square += std::pow((diagonal[static_cast<std::size_t>(row)] - lambda) * x, 2);
    }
    EXPECT_LE(std::sqrt(square), 1e4 * (1 + 1e-9));
    EXPECT_NEAR(lambda, diagonal[static_cast<std::size_t>(i)], 1e4);
  }
  options.tolerance = std::numeric_limits<double>::infinity();
  EXPECT_THROW((lobpcg<double, HostContext>(context, {&A}, options)), InvalidArgument);
}

TEST(Lobpcg, ScalingAndShiftingAScaleAndShiftTheValues) {
  HostContext context;
  for (const double factor : {1e-8, 1.0, 1e8}) {
    for (const double shift : {-7.0, 0.0, 3.0}) {
      std::vector<double> diagonal = counting(400);
      for (double& d : diagonal) d = factor * (d + shift);
      DiagonalOperator<double> A(diagonal);
      const auto result = lobpcg<double, HostContext>(context, {&A}, options_for(4));
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(result.eigenvalues[i], diagonal[i], 1e-8 * factor * 400);
      }
    }
  }
}

TEST(Lobpcg, PenaltyTermsDoNotMakeValuesConvergeTooSoon) {
  // A chain held by springs of 10⁶ at its first 40 rows: what is left is a chain of 360. Every
  // vector without these rows has a residual of some 10⁻⁶ ‖A‖ at most.
  HostContext context;
  auto chain = generate<double>(context, {.name = "laplace1d", .size = {400}});
  for (Index i = 0; i < 40; ++i) {
    for (std::int64_t e = chain.row_offsets()[i]; e < chain.row_offsets()[i + 1]; ++e) {
      if (chain.columns()[e] == i) chain.values()[e] = 1e6;
    }
  }
  SparseOperator<double, HostContext> A(context, std::move(chain));
  JacobiPreconditioner<double, HostContext> M(context, A.matrix());
  const auto result =
      lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options_for(4));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> expected = laplace_smallest_eigenvalues({360}, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i], 1e-3 * expected[i]);
  }
}

TEST(Lobpcg, SpecialMatricesAreNoTrouble) {
  HostContext context;
  const Index n = 400;
  DiagonalOperator<double> identity(std::vector<double>(static_cast<std::size_t>(n), 1.0));
  DiagonalOperator<double> zero(std::vector<double>(static_cast<std::size_t>(n), 0.0));
  std::vector<double> outlier(static_cast<std::size_t>(n), 1.0);
  outlier[17] = -1e6;
  DiagonalOperator<double> one_off(outlier);
  for (const Which which : {Which::smallest, Which::largest}) {
    const auto ones = lobpcg<double, HostContext>(context, {&identity}, options_for(5, which));
    EXPECT_EQ(ones.status, SolveStatus::converged) << ones.reason;
    for (const double value : ones.eigenvalues) EXPECT_NEAR(value, 1, 1e-12);
    const auto zeros = lobpcg<double, HostContext>(context, {&zero}, options_for(5, which));
    EXPECT_EQ(zeros.status, SolveStatus::converged) << zeros.reason;
    for (const double value : zeros.eigenvalues) EXPECT_EQ(value, 0);
  }
  const auto off = lobpcg<double, HostContext>(context, {&one_off}, options_for(3));
  ASSERT_EQ(off.status, SolveStatus::converged) << off.reason;
  EXPECT_NEAR(off.eigenvalues[0], -1e6, 1e-6);
  EXPECT_NEAR(off.eigenvalues[1], 1, 1e-6);
}

TEST(Lobpcg, ClusteredSmallDiagonalOfAReportedCase) {
  HostContext context;
  DiagonalOperator<double> A(
      {1.25, 1.5, 1.5, 1.25, 1.5, 1.25, 1.5, 0, 1.13, 1.13, 1.5, 1.13, 1.5, 1.5, 1.13});
  const auto result = lobpcg<double, HostContext>(context, {&A}, options_for(5));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> expected = {0, 1.13, 1.13, 1.13, 1.13};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(result.eigenvalues[i], expected[i], 1e-13);
}

TEST(Lobpcg, RankTenMatrixGivesItsLargestValuesToFullAccuracy) {
  HostContext context;
  const Index n = 500;
  MultiVector<double, HostSpace> X(context, n, 10);
  fill_random(context, 1, 0, X.view());
  std::vector<double> G(100);
  const SmallView<double, HostSpace> gram_view{G.data(), 10, 10, 10};
  gram<double>(context, X.view(), X.view(), gram_view);
  std::vector<double> expected(10), Z(100);
  ASSERT_TRUE(SymmetricEigensolver<HostContext>().compute(
      context, gram_view, {expected.data(), 10, 1, 10}, {Z.data(), 10, 10, 10}));
  std::vector<double> C(10 * 50);
  test::FunctionOperator A(n, [&](auto V, auto Y) {
    const SmallView<double, HostSpace> XtV{C.data(), 10, V.cols(), 10};
    gram<double>(context, X.view(), V, XtV);
    multiply<double>(context, 1, X.view(), XtV, 0, Y);
  });
  LobpcgOptions options = options_for(4, Which::largest);
  options.tolerance = 1e-12;
  const auto result = lobpcg<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[9 - i], 1e-11 * expected[9]);
  }
}

}  // namespace
}  // namespace heddle
