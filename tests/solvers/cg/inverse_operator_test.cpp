#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/cg/inverse_operator.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::to_dense;

template <class T>
class InverseOperatorTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(InverseOperatorTyped, Scalars);

TYPED_TEST(InverseOperatorTyped, DividesByAMassMatrixToRounding) {
  using T = TypeParam;
  HostContext context(2);
  auto B = test::make_operator<T>(context, {"elasticity3d_mass", {3, 4, 2}});
  InverseOperator<T, HostContext> inverse(context, B, B.matrix());
  EXPECT_TRUE(inverse.works(context));
  const Eigen::MatrixXd dense = to_dense(B.matrix());
  for (const Index cols : {1, 5, 3}) {
    MultiVector<T, HostSpace> X(context, B.rows(), cols), Y(context, B.rows(), cols);
    fill_random<T>(context, 1, 0, X.view());
    inverse.apply(context, std::as_const(X).view(), Y.view());
    const Eigen::MatrixXd x = to_dense<T>(std::as_const(X).view());
    const Eigen::MatrixXd residual = dense * to_dense<T>(std::as_const(Y).view()) - x;
    EXPECT_LE(residual.norm(), test::tolerance<T>(x.norm(), static_cast<double>(B.rows())));
  }
}

TYPED_TEST(InverseOperatorTyped, IsSymmetric) {
  using T = TypeParam;
  HostContext context;
  auto B = test::make_operator<T>(context, {"elasticity3d_mass", {2, 2, 3}});
  InverseOperator<T, HostContext> inverse(context, B, B.matrix());
  MultiVector<T, HostSpace> X(context, B.rows(), 4), Y(context, B.rows(), 4);
  fill_random<T>(context, 1, 0, X.view());
  inverse.apply(context, std::as_const(X).view(), Y.view());
  const Eigen::MatrixXd G =
      to_dense<T>(std::as_const(X).view()).transpose() * to_dense<T>(std::as_const(Y).view());
  EXPECT_LE((G - G.transpose()).cwiseAbs().maxCoeff(),
            test::tolerance<T>(G.cwiseAbs().maxCoeff(), static_cast<double>(B.rows())));
}

TEST(InverseOperator, SaysWhereTheMatrixIsTooIllConditioned) {
  HostContext context;
  auto B = test::make_operator<double>(context, {"laplace1d", {4000}});
  InverseOperator<double, HostContext> inverse(context, B, B.matrix());
  EXPECT_FALSE(inverse.works(context));
}

TEST(InverseOperator, ARequestEndsASolveBetweenTwoProducts) {
  HostContext context;
  auto B = test::make_operator<double>(context, {"laplace1d", {4000}});
  InverseOperator<double, HostContext> inverse(context, B, B.matrix());
  int asked = 0;
  inverse.set_stop([&] { return ++asked >= 7; });
  EXPECT_TRUE(inverse.works(context));  // nothing is known about B
  const Index products = B.columns_applied();
  EXPECT_EQ(asked, 7);
  EXPECT_LE(products, 10);
}

TEST(InverseOperator, ShapesThatDoNotFitAreRefused) {
  HostContext context;
  auto B = test::make_operator<double>(context, {"laplace1d", {20}});
  InverseOperator<double, HostContext> inverse(context, B, B.matrix());
  MultiVector<double, HostSpace> X(context, 19, 2), Y(context, 20, 2);
  EXPECT_THROW(inverse.apply(context, std::as_const(X).view(), Y.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
