#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
using test::expect_pairs;
using test::make_operator;

template <class T>
class BlockLanczosTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockLanczosTyped, Scalars);

BlockLanczosOptions options_for(Index nev, Which which = Which::largest, Index block = 0) {
  BlockLanczosOptions options;
  options.nev = nev;
  options.which = which;
  options.block_size = block;
  return options;
}

TYPED_TEST(BlockLanczosTyped, LaplaciansHaveTheirAnalyticSpectraAtBothEnds) {
  HostContext context;
  for (const std::vector<Index>& size :
       {std::vector<Index>{400}, std::vector<Index>{20, 21}, std::vector<Index>{8, 9, 10}}) {
    auto A =
        make_operator<TypeParam>(context, {"laplace" + std::to_string(size.size()) + "d", size});
    for (const Which which : {Which::smallest, Which::largest}) {
      const auto result =
          block_lanczos<TypeParam, HostContext>(context, {&A}, options_for(8, which));
      const auto expected = which == Which::smallest ? laplace_smallest_eigenvalues(size, 8)
                                                     : laplace_largest_eigenvalues(size, 8);
      expect_pairs<TypeParam>(A.matrix(), *A.one_norm(), result, expected,
                              kDefaultTolerance<TypeParam>);
    }
  }
}

TYPED_TEST(BlockLanczosTyped, SmallOrdersAreSolvedAtOnce) {
  HostContext context;
  auto A = make_operator<TypeParam>(context, {"laplace1d", {30}});
  const auto result =
      block_lanczos<TypeParam, HostContext>(context, {&A}, options_for(29, Which::smallest));
  expect_pairs<TypeParam>(A.matrix(), *A.one_norm(), result, laplace_smallest_eigenvalues({30}, 29),
                          kDefaultTolerance<TypeParam>);
  EXPECT_EQ(result.iterations, 0);
}

TEST(BlockLanczos, SmallOrdersNeedNoKnownNorm) {
  HostContext context;
  std::vector<double> diagonal;
  for (int i = 0; i < 60; ++i) diagonal.push_back(1e3 * i);
  DiagonalOperator<double> A(diagonal);
  DiagonalOperator<double> B(std::vector<double>(60, 1e-2));
  DiagonalOperator<double> B_inverse(std::vector<double>(60, 1e2));
  for (LinearOperator<double, HostContext>* mass :
       std::initializer_list<LinearOperator<double, HostContext>*>{nullptr, &B}) {
    EigenProblem<double, HostContext> problem{&A, mass};
    problem.B_inverse = mass == nullptr ? nullptr : &B_inverse;
    const auto result =
        block_lanczos<double, HostContext>(context, problem, options_for(5, Which::largest));
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t i = 0; i < 5; ++i) {
      const double value = diagonal[59 - i] * (mass == nullptr ? 1 : 1e2);
      EXPECT_NEAR(result.eigenvalues[i], value, 1e-12 * value);
      EXPECT_LE(result.residuals[i], 1e-12);
    }
  }
}

TEST(BlockLanczos, EveryBlockSizeGivesTheSameValues) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {25, 26}});
  for (const Which which : {Which::smallest, Which::largest}) {
    const auto expected = which == Which::smallest ? laplace_smallest_eigenvalues({25, 26}, 6)
                                                   : laplace_largest_eigenvalues({25, 26}, 6);
    for (const Index block : {1, 4, 8, 16}) {
      SCOPED_TRACE(block);
      const auto result =
          block_lanczos<double, HostContext>(context, {&A}, options_for(6, which, block));
      expect_pairs<double>(A.matrix(), *A.one_norm(), result, expected, 1e-8);
    }
  }
}

TEST(BlockLanczos, FindsEveryCopyOfAMultipleEigenvalueWithASmallBlock) {
  HostContext context;
  std::vector<double> diagonal = counting(600, 10);
  std::fill_n(diagonal.begin() + 50, 12, 1.0);
  for (const Which which : {Which::smallest, Which::largest}) {
    if (which == Which::largest) {
      for (double& d : diagonal) d = -d;
    }
    DiagonalOperator<double> A(diagonal);
    const auto result =
        block_lanczos<double, HostContext>(context, {&A}, options_for(14, which, 4));
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(std::abs(result.eigenvalues[i]), 1, 1e-5);
    EXPECT_NEAR(std::abs(result.eigenvalues[12]), 10, 1e-5);
    EXPECT_NEAR(std::abs(result.eigenvalues[13]), 11, 1e-5);
  }
}

TEST(BlockLanczos, FindsMoreCopiesThanSeveralBlocksHaveColumns) {
  HostContext context;
  std::vector<double> diagonal = counting(1000, 2);
  std::fill_n(diagonal.begin() + 300, 100, 1.0);
  DiagonalOperator<double> A(diagonal);
  const auto result =
      block_lanczos<double, HostContext>(context, {&A}, options_for(60, Which::smallest));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (const double value : result.eigenvalues) EXPECT_NEAR(value, 1, 1e-5);
}

/// Cycles after the one in which the last wanted pair has converged.
Index cycles_of_search(const std::vector<double>& values, const BlockLanczosOptions& options) {
  HostContext context;
  DiagonalOperator<double> A(values);
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (Index j = 0; j < options.nev; ++j) {
    const auto place = static_cast<std::size_t>(j);
    EXPECT_NEAR(result.eigenvalues[place], values[values.size() - 1 - place], 1e-7);
  }
  return std::count_if(result.history.begin(), result.history.end(),
                       [&](const IterationRecord& each) { return each.converged == options.nev; }) -
         1;
}

Index cycles_of_search(const std::vector<double>& values, Index nev, Index block) {
  return cycles_of_search(values, options_for(nev, Which::largest, block));
}

TEST(BlockLanczos, SearchesForCopiesOnlyWhereTheBlockMayNotHaveShownThem) {
  std::vector<double> values;
  for (int j = 0; j < 600; ++j) values.push_back(0.01 * j);
  for (int j = 0; j < 8; ++j) values.push_back(8 + j);
  EXPECT_EQ(cycles_of_search(values, 6, 4), 0);
  values[605] = values[606] = values[607] = 15;
  EXPECT_EQ(cycles_of_search(values, 6, 4), 0);
  values[604] = 15;
  EXPECT_GT(cycles_of_search(values, 6, 4), 0);
  EXPECT_EQ(cycles_of_search(values, 6, 5), 0);
  for (std::size_t j = 604; j < 608; ++j) values[j] = 15 - 1e-9 * static_cast<double>(608 - j);
  EXPECT_GT(cycles_of_search(values, 6, 4), 0);
}

/// An absolute tolerance is coarse beside a small norm, so that more values may be combinations.
TEST(BlockLanczos, SearchesForCopiesAsAnAbsoluteToleranceAsks) {
  BlockLanczosOptions options = options_for(6, Which::largest, 4);
  options.criterion = Criterion::absolute;
  std::vector<double> values;
  for (int j = 0; j < 604; ++j) values.push_back(0.01 * j);
  for (int j = 0; j < 4; ++j) values.push_back(14.8 + 0.05 * j);
  EXPECT_EQ(cycles_of_search(values, options), 0);
  for (double& value : values) value *= 1e-6;
  EXPECT_GT(cycles_of_search(values, options), 0);
}

/// The steps before a request may have shown fewer copies than there are.
TEST(BlockLanczos, ACycleThatARequestCutShortClaimsNothing) {
  HostContext context;
  std::vector<double> values;
  for (int j = 0; j < 600; ++j) values.push_back(0.01 * j);
  for (int j = 0; j < 8; ++j) values.push_back(8 + j);
  DiagonalOperator<double> A(values);
  BlockLanczosOptions options = options_for(6, Which::largest, 4);
  options.max_basis = 60;
  options.filter = LanczosFilter::none;
  const auto status_after = [&](Index polls, Index& asked) {
    asked = 0;
    Monitor monitor;
    monitor.stop = [&] { return ++asked >= polls; };
    return block_lanczos<double, HostContext>(context, {&A}, options, monitor).status;
  };
  Index needed = 0;
  ASSERT_EQ(status_after(1000, needed), SolveStatus::converged);
  for (Index polls = 1; polls < needed; ++polls) {
    Index asked = 0;
    EXPECT_EQ(status_after(polls, asked), SolveStatus::interrupted) << polls << " of " << needed;
  }
}

TEST(BlockLanczos, TheFilterChangesTheWayAndNotTheValues) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace3d", {14, 15, 16}});
  BlockLanczosOptions options = options_for(8);
  const auto filtered = block_lanczos<double, HostContext>(context, {&A}, options);
  options.filter = LanczosFilter::none;
  const auto direct = block_lanczos<double, HostContext>(context, {&A}, options);
  const auto expected = laplace_largest_eigenvalues({14, 15, 16}, 8);
  expect_pairs<double>(A.matrix(), *A.one_norm(), filtered, expected, 1e-8);
  expect_pairs<double>(A.matrix(), *A.one_norm(), direct, expected, 1e-8);
  EXPECT_LT(filtered.orthogonalization.cholqr2, direct.orthogonalization.cholqr2);
  EXPECT_GT(filtered.operator_applications, direct.operator_applications);
}

TEST(BlockLanczos, SolvesThePencilOfAMikotaChain) {
  HostContext context;
  auto K = make_operator<double>(context, {"mikota_stiffness", {400}});
  auto M = make_operator<double>(context, {"mikota_mass", {400}});
  JacobiPreconditioner<double, HostContext> M_inverse(context, M.matrix());  // M is diagonal
  EigenProblem<double, HostContext> problem{&K, &M};
  problem.B_inverse = &M_inverse;
  for (const Which which : {Which::smallest, Which::largest}) {
    BlockLanczosOptions options = options_for(5, which);
    options.criterion = Criterion::relative;
    const auto result = block_lanczos<double, HostContext>(context, problem, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    for (std::size_t i = 0; i < 5; ++i) {
      const double k = static_cast<double>(which == Which::smallest ? i + 1 : 400 - i);
      EXPECT_NEAR(result.eigenvalues[i], k * k, 1e-6 * k * k);
    }
    EXPECT_LE(result.orthogonality, test::tolerance<double>(1, 400));
  }
}

TEST(BlockLanczos, ScalingAndShiftingAScaleAndShiftTheValues) {
  HostContext context;
  for (const double factor : {1e-8, 1.0, 1e8}) {
    for (const double shift : {-7.0, 0.0, 3.0}) {
      std::vector<double> diagonal = counting(400);
      for (double& d : diagonal) d = factor * (d + shift);
      DiagonalOperator<double> A(diagonal);
      const auto result =
          block_lanczos<double, HostContext>(context, {&A}, options_for(4, Which::smallest));
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(result.eigenvalues[i], diagonal[i], 1e-8 * factor * 400);
      }
    }
  }
}

TEST(BlockLanczos, SpecialMatricesAreNoTrouble) {
  HostContext context;
  const std::size_t n = 400;
  DiagonalOperator<double> identity(std::vector<double>(n, 1.0));
  DiagonalOperator<double> zero(std::vector<double>(n, 0.0));
  std::vector<double> outlier(n, 1.0);
  outlier[17] = -1e6;
  DiagonalOperator<double> one_off(outlier);
  for (const Which which : {Which::smallest, Which::largest}) {
    const auto ones =
        block_lanczos<double, HostContext>(context, {&identity}, options_for(5, which));
    EXPECT_EQ(ones.status, SolveStatus::converged) << ones.reason;
    for (const double value : ones.eigenvalues) EXPECT_NEAR(value, 1, 1e-12);
    const auto zeros = block_lanczos<double, HostContext>(context, {&zero}, options_for(5, which));
    EXPECT_EQ(zeros.status, SolveStatus::converged) << zeros.reason;
    for (const double value : zeros.eigenvalues) EXPECT_NEAR(value, 0, 1e-300);
  }
  const auto off =
      block_lanczos<double, HostContext>(context, {&one_off}, options_for(3, Which::smallest));
  ASSERT_EQ(off.status, SolveStatus::converged) << off.reason;
  EXPECT_NEAR(off.eigenvalues[0], -1e6, 1e-6);
  EXPECT_NEAR(off.eigenvalues[1], 1, 1e-6);
}

TEST(BlockLanczos, RankTenMatrixGivesItsLargestValuesToFullAccuracy) {
  HostContext context;
  const Index n = 500;
  MultiVector<double, HostSpace> X(context, n, 10);
  fill_random(context, 1, 0, X.view());
  std::vector<double> G(100), expected(10), Z(100), C(10 * 50);
  const SmallView<double, HostSpace> gram_view{G.data(), 10, 10, 10};
  gram<double>(context, X.view(), X.view(), gram_view);
  ASSERT_TRUE(SymmetricEigensolver<HostContext>().compute(
      context, gram_view, {expected.data(), 10, 1, 10}, {Z.data(), 10, 10, 10}));
  test::FunctionOperator A(n, [&](auto V, auto Y) {
    const SmallView<double, HostSpace> XtV{C.data(), 10, V.cols(), 10};
    gram<double>(context, X.view(), V, XtV);
    multiply<double>(context, 1, X.view(), XtV, 0, Y);
  });
  BlockLanczosOptions options = options_for(4);
  options.tolerance = 1e-12;
  const auto result = block_lanczos<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[9 - i], 1e-11 * expected[9]);
  }
}

TEST(BlockLanczos, AnInitialGuessSavesWork) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {30, 31}});
  const BlockLanczosOptions options = options_for(5);
  const auto cold = block_lanczos<double, HostContext>(context, {&A}, options);
  ASSERT_EQ(cold.status, SolveStatus::converged) << cold.reason;
  EigenProblem<double, HostContext> problem{&A};
  problem.initial_guess = cold.eigenvectors.view();
  const auto warm = block_lanczos<double, HostContext>(context, problem, options);
  ASSERT_EQ(warm.status, SolveStatus::converged) << warm.reason;
  EXPECT_LT(warm.operator_applications, cold.operator_applications);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(warm.eigenvalues[i], cold.eigenvalues[i], 1e-10);
  }
}

TEST(BlockLanczos, AnExactGuessOfOtherPairsIsNotTakenForTheWantedOnes) {
  HostContext context;
  DiagonalOperator<double> A(counting(300));
  MultiVector<double, HostSpace> guess(context, 300, 2);
  set_zero(context, guess.view());
  guess.view()(1, 0) = guess.view()(4, 1) = 1;  // e_2 and e_5
  EigenProblem<double, HostContext> problem{&A};
  for (const Index block : {1, 2, 4}) {
    for (const Index guesses : {1, 2}) {
      problem.initial_guess = guess.view().columns(0, guesses);
      for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
        BlockLanczosOptions options = options_for(1, Which::smallest, block);
        options.max_basis = 20;
        options.seed = seed;
        const auto result = block_lanczos<double, HostContext>(context, problem, options);
        ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
        EXPECT_NEAR(result.eigenvalues[0], 1, 1e-5) << block << ' ' << guesses << ' ' << seed;
      }
    }
  }
}

TEST(BlockLanczos, TheSameSeedGivesTheSameBitsForEveryNumberOfThreads) {
  for (const Which which : {Which::smallest, Which::largest}) {
    std::vector<double> values;
    for (const int threads : {1, 1, 2, 3}) {
      HostContext context(threads);
      auto A = make_operator<double>(context, {"laplace3d", {14, 15, 16}});
      const auto result = block_lanczos<double, HostContext>(context, {&A}, options_for(6, which));
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      std::vector<double> all = result.eigenvalues;
      for (Index i = 0; i < A.rows(); ++i) {
        for (Index j = 0; j < 6; ++j) all.push_back(result.eigenvectors.view()(i, j));
      }
      if (values.empty()) values = all;
      EXPECT_EQ(all, values) << threads << " threads";
    }
  }
}

TEST(BlockLanczos, CountsEveryProductWithA) {
  HostContext context;
  Index columns = 0;
  test::FunctionOperator A(500, [&](auto X, auto Y) {
    columns += X.cols();
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = static_cast<double>(i + 1) * X(i, j);
    }
  });
  const auto result =
      block_lanczos<double, HostContext>(context, {&A}, options_for(4, Which::smallest));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_EQ(result.operator_applications, columns);
}

}  // namespace
}  // namespace heddle
