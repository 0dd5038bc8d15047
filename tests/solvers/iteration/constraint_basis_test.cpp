#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <heddle/solvers/iteration/constraint_basis.hpp>
#include <limits>

#include "support/dense.hpp"

/// Bases of nearly dependent constraints against the exact span of the columns in long double.
namespace heddle {
namespace {

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// The sine of the largest angle between vectors of the orthonormal columns of Y and the span of X,
/// whose columns differ from the first one by small multiples of random vectors.
double sine_of_angle(const Exact& X, const Exact& Y) {
  Exact apart = X;
  for (Index j = 0; j < X.cols(); ++j) {
    if (j > 0) apart.col(j) -= X.col(0);
    apart.col(j) /= apart.col(j).norm();
  }
  const Exact Q = Exact(Eigen::HouseholderQR<Exact>(apart).householderQ()).leftCols(X.cols());
  return static_cast<double>((Y - Q * (Q.transpose() * Y)).norm());
}

template <class T>
class ConstraintBasis : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ConstraintBasis, Scalars);

TYPED_TEST(ConstraintBasis, SpansNearlyDependentColumnsToRounding) {
  using T = TypeParam;
  constexpr auto kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  HostContext context;
  const Index n = 200, c = 3;
  std::srand(5);
  const Eigen::MatrixXd random = Eigen::MatrixXd::Random(n, c);
  for (const double apart : {1.0, 1e-2, 1e-5, 1e-9, 1e-12}) {
    if (apart < 1e3 * kEpsilon) continue;
    Eigen::MatrixXd columns = random;
    for (Index j = 1; j < c; ++j) columns.col(j) = random.col(0) + apart * random.col(j);
    columns.col(c - 1) *= 0x1p-40;
    const auto X = test::to_block<T>(context, columns);
    MultiVector<T, HostSpace> Y(context, n, c);
    Orthogonalizer<T, HostContext> orthogonalizer(context, c, 0);
    OrthoCounts counts;
    const auto made = detail::orthonormal_constraints<T, HostContext>(
        context, orthogonalizer, nullptr, X.view(), Y.view(), Y.view(), counts);
    ASSERT_EQ(made.rank, c) << apart;
    Exact given = test::to_dense<T>(X.view()).template cast<long double>();
    given.col(c - 1) *= 0x1p40L;
    const Exact basis = test::to_dense<T>(std::as_const(Y).view()).template cast<long double>();
    EXPECT_LE(sine_of_angle(given, basis), 100 * kEpsilon) << apart;
    EXPECT_LE((basis.transpose() * basis - Exact::Identity(c, c)).norm(), 100 * kEpsilon) << apart;
  }
}

}  // namespace
}  // namespace heddle
