#include <heddle/linalg/small/dense_eigen.hpp>
#include <limits>

#include "linalg/blocks/complex_ops_battery.hpp"
#include "support/on_host.hpp"

namespace heddle {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Host, ComplexBlocks, test::OnHost<Complex>);

Dense hermitian(Index m, unsigned seed) {
  std::srand(seed);
  const Dense M = Dense::Random(m, m);
  return 0.5 * (M + M.adjoint());
}

TEST(ComplexBlocksOnHost, NormsOfHugeAndTinyColumnsAreSafe) {
  HostContext context(1);
  MultiVector<Complex, HostSpace> X(context, 600, 2);
  for (Index i = 0; i < 600; ++i) {
    X.view()(i, 0) = {3e200, 4e200};
    X.view()(i, 1) = {0, 5e-200};
  }
  double norms[2];
  column_norms<Complex>(context, X.view(), {norms, 2, 1, 2});
  EXPECT_NEAR(norms[0] / (5e200 * std::sqrt(600.0)), 1, 1e-14);
  EXPECT_NEAR(norms[1] / (5e-200 * std::sqrt(600.0)), 1, 1e-14);
}

TEST(ComplexSmall, CholeskyAndItsInverse) {
  HostContext context(1);
  const Dense A = hermitian(9, 1) + 12 * Dense::Identity(9, 9);
  Dense R = A;
  ASSERT_TRUE(cholesky(context, small(R)).positive_definite);
  EXPECT_LT((R.adjoint() * R - A).norm(), 1e-13 * A.norm());
  Dense inverse = R;
  invert_upper(context, small(inverse));
  EXPECT_LT((inverse * R - Dense::Identity(9, 9)).norm(), 1e-13);
  Dense indefinite = A - 12 * Dense::Identity(9, 9);
  EXPECT_FALSE(cholesky(context, small(indefinite)).positive_definite);
}

TEST(ComplexSmall, EigenpairsOfHermitianMatrices) {
  HostContext context(1);
  for (const Index m : {1, 2, 17, 60}) {
    Dense H = hermitian(m, 5), G = hermitian(m, 6) + 20 * Dense::Identity(m, m);
    const Dense H0 = H, G0 = G;
    Eigen::VectorXd theta(m);
    Dense Z(m, m);
    DenseSolverOf<Complex> solver(m);
    ASSERT_EQ(solver.solve(ConstSmallView<Complex, HostSpace>(small(H)), {theta.data(), m, 1, m},
                           small(Z)),
              DenseFailure::none);
    EXPECT_LT((H0 * Z - Z * theta.cast<Complex>().asDiagonal()).norm(), 1e-12);
    EXPECT_LT((Z.adjoint() * Z - Dense::Identity(m, m)).norm(), 1e-12);
    ASSERT_EQ(solver.solve(small(H), small(G), {theta.data(), m, 1, m}, small(Z)),
              DenseFailure::none);
    EXPECT_LT((H0 * Z - G0 * Z * theta.cast<Complex>().asDiagonal()).norm(), 1e-11);
    EXPECT_LT((Z.adjoint() * G0 * Z - Dense::Identity(m, m)).norm(), 1e-12);
  }
  Dense bad = Dense::Constant(2, 2, Complex(0, std::numeric_limits<double>::quiet_NaN()));
  Eigen::VectorXd theta(2);
  Dense Z(2, 2);
  EXPECT_EQ(DenseSolverOf<Complex>(2).solve(ConstSmallView<Complex, HostSpace>(small(bad)),
                                            {theta.data(), 2, 1, 2}, small(Z)),
            DenseFailure::not_finite);
}

}  // namespace
}  // namespace heddle
