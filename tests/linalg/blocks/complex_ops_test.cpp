#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>
#include <vector>

namespace heddle {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;
using Rows = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Small = SmallView<Complex, HostSpace>;

Dense dense(ConstBlockView<Complex, HostSpace> X) {
  return Eigen::Map<const Rows, 0, Eigen::OuterStride<>>(X.data(), X.rows(), X.cols(),
                                                         Eigen::OuterStride<>(X.ld()));
}
Small small(Dense& M) { return {M.data(), M.rows(), M.cols(), M.rows()}; }

MultiVector<Complex, HostSpace> random_block(HostContext& context, Index n, Index b,
                                             std::uint64_t stream) {
  MultiVector<Complex, HostSpace> X(context, n, b);
  fill_random<Complex>(context, 7, stream, X.view());
  return X;
}

Dense hermitian(Index m, unsigned seed) {
  std::srand(seed);
  const Dense M = Dense::Random(m, m);
  return 0.5 * (M + M.adjoint());
}

class ComplexBlocks : public ::testing::TestWithParam<std::pair<Index, Index>> {
 protected:
  HostContext context{2};
  const Index a = GetParam().first, b = GetParam().second, n = 1300;
  MultiVector<Complex, HostSpace> X = random_block(context, n, a, 1),
                                  Y = random_block(context, n, b, 2),
                                  Z = random_block(context, n, b, 3);
};

TEST_P(ComplexBlocks, GramIsTheAdjointTimesTheBlock) {
  Dense G(a, b), H(a, b), S(a, a);
  gram<Complex>(context, X.view(), Y.view(), small(G), Z.view(), small(H));
  EXPECT_LT((G - dense(X.view()).adjoint() * dense(Y.view())).norm(), 1e-11);
  EXPECT_LT((H - dense(X.view()).adjoint() * dense(Z.view())).norm(), 1e-11);
  gram<Complex>(context, X.view(), X.view(), small(S));
  EXPECT_EQ(S, Dense(S.adjoint()));
}

TEST_P(ComplexBlocks, MultiplyAddsAndReturnsNorms) {
  Dense C = Dense::Random(a, b);
  const Dense expected = 0.5 * dense(X.view()) * C - 2.0 * dense(Y.view());
  Eigen::VectorXd norms(b);
  multiply<Complex>(context, 0.5, X.view(), small(C), -2, Y.view(), {norms.data(), b, 1, b});
  EXPECT_LT((dense(Y.view()) - expected).norm(), 1e-12 * expected.norm());
  EXPECT_LT((norms - expected.colwise().norm().transpose()).norm(), 1e-12 * norms.norm());
}

TEST_P(ComplexBlocks, ResidualsDotsAndScaling) {
  Eigen::VectorXd theta = Eigen::VectorXd::Random(b), norms(b), dots(b);
  const Dense R = dense(Y.view()) - dense(Z.view()) * theta.cast<Complex>().asDiagonal();
  column_dots<Complex>(context, Y.view(), Z.view(), {dots.data(), b, 1, b});
  for (Index j = 0; j < b; ++j) {
    EXPECT_NEAR(dots(j), dense(Y.view()).col(j).dot(dense(Z.view()).col(j)).real(), 1e-11);
  }
  const Eigen::VectorXd factors = theta;
  residual<Complex>(context, Y.view(), Z.view(), {theta.data(), b, 1, b}, Y.view(),
                    {norms.data(), b, 1, b});
  EXPECT_LT((dense(Y.view()) - R).norm(), 1e-13 * R.norm());
  EXPECT_LT((norms - R.colwise().norm().transpose()).norm(), 1e-12 * norms.norm());
  scale_columns<Complex>(context, {factors.data(), b, 1, b}, Y.view());
  EXPECT_LT((dense(Y.view()) - R * factors.cast<Complex>().asDiagonal()).norm(), 1e-13 * R.norm());
}

TEST_P(ComplexBlocks, RowsAndWeights) {
  const MultiVector<Complex, HostSpace> d = random_block(context, n, 1, 9);
  Eigen::VectorXd sums(b);
  weighted_squares<Complex>(context, d.view(), Y.view(), {sums.data(), b, 1, b});
  const Dense before = dense(Y.view()), D = dense(d.view());
  for (Index j = 0; j < b; ++j) {
    EXPECT_NEAR(sums(j), before.col(j).cwiseAbs2().dot(D.col(0).real()), 1e-11);
  }
  scale_rows<Complex>(context, d.view(), Y.view(), Z.view());
  EXPECT_LT((dense(Z.view()) - D.col(0).asDiagonal() * before).norm(), 1e-12);
  axpby<Complex>(context, 2, Y.view(), -1, Z.view());
  EXPECT_LT((dense(Z.view()) - 2 * before + D.col(0).asDiagonal() * before).norm(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Widths, ComplexBlocks,
                         ::testing::Values(std::pair<Index, Index>{1, 1},
                                           std::pair<Index, Index>{5, 3},
                                           std::pair<Index, Index>{8, 16},
                                           std::pair<Index, Index>{1, 7}));

TEST(ComplexBlocks, NormsOfHugeAndTinyColumnsAreSafe) {
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

TEST(ComplexSmall, ProductsTakeAdjoints) {
  HostContext context(1);
  Dense A = Dense::Random(4, 6), B = Dense::Random(5, 4), C = Dense::Random(6, 5);
  const Dense expected = 2.0 * A.adjoint() * B.adjoint() + 0.5 * C;
  small_multiply(context, 2, small(A), true, small(B), true, 0.5, small(C));
  EXPECT_LT((C - expected).norm(), 1e-14 * expected.norm());
  EXPECT_ANY_THROW(small_multiply(context, 1, small(A), false, small(B), false, 0, small(C)));
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
