#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/error.hpp>
#include <heddle/solvers/block_lanczos.hpp>
#include <heddle/solvers/preconditioners/jacobi.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::counting;
using test::DiagonalOperator;
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

/// All that must hold for a converged result: values, residuals by a product of our own, and
/// orthonormal vectors.
template <Scalar T>
void expect_pairs(CsrView<T, HostSpace> A, double norm, const EigenResult<T, HostSpace>& result,
                  const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_EQ(result.eigenvalues.size(), expected.size());
  const auto residuals =
      test::true_residuals<T>(A, nullptr, result.eigenvalues, result.eigenvectors.view());
  const double rounding = test::tolerance<T>(norm, static_cast<double>(A.rows));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], expected[i], tolerance * 2 * norm + rounding) << i;
    EXPECT_LE(residuals[i], tolerance * 2 * norm + rounding) << i;
    EXPECT_LE(result.residuals[i], tolerance) << i;
  }
  EXPECT_LE(result.orthogonality, test::tolerance<T>(1, static_cast<double>(expected.size())));
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

}  // namespace
}  // namespace heddle
