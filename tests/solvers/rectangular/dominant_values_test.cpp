#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/solvers/rectangular/projected_operator.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <heddle/solvers/rectangular/triplet_criterion.hpp>
#include <limits>

#include "solvers/rectangular/singular_support.hpp"

/// Singular values beside so large ones that their squares are lost in those of the large ones.
namespace heddle {
namespace {

using test::geometric;
using test::options_for;
using test::shifted_diagonal;
using test::SparsePair;
using test::TestMatrix;

/// The errors of the values of a converged solve: within their bounds, and as small as max(1e-6 σ,
/// rounding of ‖A‖₂).
template <class T>
void expect_digits(const SingularResult<T, HostSpace>& result, const std::vector<double>& truth) {
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_LE(result.singular_values.size(), truth.size());
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double digits = std::max(1e-6, kDefaultTolerance<T>);
  for (std::size_t j = 0; j < result.singular_values.size(); ++j) {
    const double allowed = std::max(digits * truth[j], 120 * epsilon * truth[0]);
    EXPECT_LE(std::abs(result.singular_values[j] - truth[j]),
              result.error_bounds[j] + epsilon * truth[j])
        << "value " << j;
    EXPECT_LE(result.error_bounds[j], allowed) << "value " << j;
    EXPECT_TRUE(result.converged[j]);
    EXPECT_EQ(result.limited_by_rounding[j],
              result.error_bounds[j] > kDefaultTolerance<T> * truth[j])
        << "value " << j;
  }
}

template <class T>
class DominantValues : public ::testing::Test {
 protected:
  SingularResult<T, HostSpace> solve(const TestMatrix<T>& A, const SingularOptions& options) {
    SparsePair<T> operators(context_, A.view());
    return singular_triplets(context_, operators.pair(), options);
  }

  HostContext context_{2};
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DominantValues, Scalars);

TYPED_TEST(DominantValues, TheSecondOfManySmallOnesIsFoundFromEverySeed) {
  // The square of 10·small is rounding of 1.
  const double small = sizeof(TypeParam) == sizeof(double) ? 1e-9 : 1e-5;
  std::vector<double> sigma(600, small);
  sigma[0] = 1;
  sigma[1] = 10 * small;
  for (const auto& [rows, cols] : {std::pair<Index, Index>{601, 600}, {640, 900}}) {
    const auto A = shifted_diagonal<TypeParam>(rows, cols, sigma);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(seed);
      SingularOptions options = options_for(2, Which::largest);
      options.seed = seed;
      expect_digits(this->solve(A, options), sigma);
    }
  }
}

TYPED_TEST(DominantValues, OverManyDecades) {
  const double least = sizeof(TypeParam) == sizeof(double) ? 1e-18 : 1e-10;
  const std::vector<double> sigma = geometric(600, least);
  for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
    const auto A = shifted_diagonal<TypeParam>(650, 600, sigma);
    expect_digits(this->solve(A, options_for(40, Which::largest, solver)), sigma);
  }
}

TYPED_TEST(DominantValues, OfLowRankTheOthersAreZeroToRounding) {
  std::vector<double> sigma{3, 2, 1};
  const auto A = shifted_diagonal<TypeParam>(700, 600, sigma);
  sigma.resize(6, 0.0);
  expect_digits(this->solve(A, options_for(6, Which::largest)), sigma);
}

TEST(DominantValuesDouble, OfDataThatAreNotCentred) {
  // All entries are near 1e6: the first value is about 5e8, the next ones are below 60.
  TestMatrix<double> A = test::matrix_with_pattern<double>(530, 520, [](Index) {
    std::vector<Index> columns(520);
    for (Index j = 0; j < 520; ++j) columns[static_cast<std::size_t>(j)] = j;
    return columns;
  });
  for (double& value : A.values) value += 1e6;
  const Eigen::VectorXd all = test::singular_values(test::to_dense(A.view()));
  const std::vector<double> truth(all.data(), all.data() + 5);
  HostContext context(2);
  SparsePair<double> operators(context, A.view());
  const auto result = singular_triplets(context, operators.pair(), options_for(5, Which::largest));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(result.singular_values[j], truth[j], 100 * 2.2e-16 * truth[0]) << "value " << j;
    EXPECT_LE(result.error_bounds[j], 1e-6 * truth[j]);
  }
}

TEST(DominantValuesDouble, SmallestOnesWithoutDigitsAreNotConverged) {
  // The squares of the two smallest are rounding of 1, and A is too large to be decomposed.
  std::vector<double> sigma{1e-10, 1e-11};
  for (int i = 2; i < 6000; ++i) sigma.push_back(0.5 + 0.5 * i / 6000);
  HostContext context(2);
  SparsePair<double> operators(context, shifted_diagonal<double>(6001, 6000, sigma).view());
  const auto result = singular_triplets(context, operators.pair(), options_for(1, Which::smallest));
  EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  EXPECT_EQ(result.converged, std::vector<bool>(1, false));
  EXPECT_NE(result.reason.find("small singular values"), std::string::npos) << result.reason;
}

TEST(DominantValuesDouble, TheCriterionNormNeedsNoDigitsOfSmallOnes) {
  std::vector<double> sigma(600, 1e-9);
  sigma[0] = 1;
  HostContext context(2);
  SparsePair<double> operators(context, shifted_diagonal<double>(700, 600, sigma).view());
  SingularOptions options = options_for(2, Which::largest);
  options.criterion = Criterion::norm;
  const auto result = singular_triplets(context, operators.pair(), options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_NEAR(result.singular_values[0], 1, 1e-12);
}

TEST(HiddenInSquares, IsTheRootOfTheSumWithoutTheValue) {
  EXPECT_DOUBLE_EQ(detail::hidden_in_squares(0, 1e-8), 1e-8);
  EXPECT_NEAR(detail::hidden_in_squares(3, 4), 2, 1e-15);
  EXPECT_NEAR(detail::hidden_in_squares(1, 1e-8), 5e-17, 1e-24);
  EXPECT_EQ(detail::hidden_in_squares(1e200, 0), 0);
  EXPECT_NEAR(detail::hidden_in_squares(3e200, 4e200) / 1e200, 2, 1e-14);
}

TYPED_TEST(DominantValues, ProjectionOfTheArgument) {
  SparsePair<TypeParam> pair(this->context_, test::random_matrix<TypeParam>(9, 6, 3).view());
  MultiVector<TypeParam, HostSpace> Q(this->context_, 6, 2), X(this->context_, 6, 3);
  MultiVector<TypeParam, HostSpace> Y(this->context_, 9, 3);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 2; ++j) Q.view()(i, j) = static_cast<TypeParam>(i == j + 2 ? 1 : 0);
    for (Index j = 0; j < 3; ++j) X.view()(i, j) = static_cast<TypeParam>(i + 1 + 7 * j % 4);
  }
  detail::ProjectedOperator<TypeParam, HostContext> projected(*pair.pair().A, Q.view(),
                                                              detail::ProjectedSide::argument);
  projected.apply(this->context_, X.view(), Y.view());
  Eigen::MatrixXd without = test::to_dense<TypeParam>(X.view());
  without.middleRows(2, 2).setZero();
  const Eigen::MatrixXd expected = test::to_dense(pair.matrix()) * without;
  const double error = (test::to_dense<TypeParam>(Y.view()) - expected).cwiseAbs().maxCoeff();
  EXPECT_LE(error, test::tolerance<TypeParam>(expected.norm(), 9));
}

}  // namespace
}  // namespace heddle
