#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/operators/sparse_cholesky.hpp>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::to_dense;

const GallerySpec kGrid = {"laplace2d", {9, 11}};
const GallerySpec kStiffness = {"elasticity3d", {2, 3, 2}};
const GallerySpec kMass = {"elasticity3d_mass", {2, 3, 2}};
const CsrView<double, HostSpace> kIdentity{};

/// P M Pᵀ for row k of P M being row order[k] of M.
Eigen::MatrixXd permuted(const Eigen::MatrixXd& M, const std::vector<std::int32_t>& order) {
  Eigen::MatrixXd result(M.rows(), M.cols());
  for (Eigen::Index i = 0; i < M.rows(); ++i) {
    for (Eigen::Index j = 0; j < M.cols(); ++j) {
      result(i, j) = M(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]);
    }
  }
  return result;
}

TEST(SparseCholesky, FactorsMultiplyToTheMatrixAndAreAsLargeAsForetold) {
  HostContext context;
  const auto K = generate<double>(context, kStiffness);
  const auto M = generate<double>(context, kMass);
  const detail::SparseCholesky cholesky(context, K.view(), M.view(), 1e9);
  ASSERT_TRUE(cholesky.fits());
  for (const double sigma : {0.0, -0.5, -1e3}) {
    const auto made = cholesky.factor(context, sigma);
    ASSERT_TRUE(made) << sigma;
    EXPECT_EQ(static_cast<double>(made->nnz()), cholesky.entries());
    double operations = 0;
    for (Index k = 0; k < made->rows(); ++k) {
      const auto view = std::as_const(*made).view();
      const auto length = static_cast<double>(view.row_offsets[k + 1] - view.row_offsets[k]);
      EXPECT_EQ(view.columns[view.row_offsets[k]], k);
      operations += length * length;
    }
    EXPECT_EQ(operations, cholesky.operations());
    const Eigen::MatrixXd U = to_dense(std::as_const(*made).view());
    const Eigen::MatrixXd A =
        permuted(to_dense(K.view()) - sigma * to_dense(M.view()), cholesky.order());
    EXPECT_LE((U.transpose() * U - A).cwiseAbs().maxCoeff(),
              test::tolerance<double>(A.cwiseAbs().maxCoeff(), static_cast<double>(A.rows())));
  }
}

TEST(SparseCholesky, AFactorExistsBelowTheSpectrumOnly) {
  HostContext context;
  const auto A = generate<double>(context, kGrid);
  const double least = laplace_smallest_eigenvalues({9, 11}, 1).front();
  const detail::SparseCholesky cholesky(context, A.view(), kIdentity, 1e9);
  EXPECT_TRUE(cholesky.factor(context, least - 1e-8));
  EXPECT_FALSE(cholesky.factor(context, least + 1e-8));
  EXPECT_FALSE(cholesky.factor(context, 4.0));
  EXPECT_FALSE(cholesky.factor(context, std::numeric_limits<double>::quiet_NaN()));
}

TEST(SparseCholesky, ASingularMatrixHasNoneButASmallShiftHelps) {
  HostContext context;
  const auto A = graph_laplacian(context, generate<double>(context, kGrid).view(),
                                 {.weights = EdgeWeights::unit});
  const detail::SparseCholesky cholesky(context, A.view(), kIdentity, 1e9);
  EXPECT_FALSE(cholesky.factor(context, 0));
  EXPECT_TRUE(cholesky.factor(context, -1e-9));
}

TEST(SparseCholesky, ALimitEndsTheAnalysis) {
  HostContext context;
  const auto A = generate<double>(context, kGrid);
  const double entries = detail::SparseCholesky(context, A.view(), kIdentity, 1e9).entries();
  EXPECT_TRUE(detail::SparseCholesky(context, A.view(), kIdentity, entries).fits());
  EXPECT_FALSE(detail::SparseCholesky(context, A.view(), kIdentity, entries - 1).fits());
  EXPECT_FALSE(detail::SparseCholesky(context, A.view(), kIdentity, 10).fits());
}

template <class T>
class ShiftedInverseTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ShiftedInverseTyped, Scalars);

TYPED_TEST(ShiftedInverseTyped, SolvesWithThePencil) {
  using T = TypeParam;
  HostContext context(2);
  const auto K = generate<T>(context, kStiffness);
  const auto M = generate<T>(context, kMass);
  ShiftedInverse<T, HostContext> inverse(K.view(), M.view());
  for (const double sigma : {-2.0, -0.25}) {
    ASSERT_TRUE(inverse.factor(context, sigma));
    EXPECT_EQ(inverse.shift(), sigma);
    for (const Index cols : {1, 5, 8}) {
      MultiVector<T, HostSpace> X(context, K.rows(), cols), Y(context, K.rows(), cols);
      fill_random<T>(context, 1, 0, X.view());
      inverse.apply(context, std::as_const(X).view(), Y.view());
      const Eigen::MatrixXd A = to_dense(K.view()) - sigma * to_dense(M.view());
      const Eigen::MatrixXd y = to_dense<T>(std::as_const(Y).view());
      const Eigen::MatrixXd residual = A * y - to_dense<T>(std::as_const(X).view());
      EXPECT_LE(residual.norm(),
                test::tolerance<T>(A.norm() * y.norm(), static_cast<double>(A.rows())));
    }
  }
  EXPECT_EQ(inverse.columns_applied(), 28);
}

TEST(ShiftedInverse, ThreadsDoNotChangeTheBits) {
  std::vector<double> first;
  for (const int threads : {1, 2, 3}) {
    HostContext context(threads);
    const auto A = generate<double>(context, {"laplace2d", {40, 41}});
    ShiftedInverse<double, HostContext> inverse(A.view());
    ASSERT_TRUE(inverse.factor(context, 0));
    MultiVector<double, HostSpace> X(context, A.rows(), 8), Y(context, A.rows(), 8);
    fill_random<double>(context, 1, 0, X.view());
    inverse.apply(context, std::as_const(X).view(), Y.view());
    const auto view = std::as_const(Y).view();
    const std::vector<double> all(view.data(), view.data() + view.rows() * view.ld());
    if (first.empty()) first = all;
    EXPECT_EQ(all, first);
  }
}

TEST(ShiftedInverse, AFailedFactorLeavesNothingToApplyButOneIsMadeAgain) {
  HostContext context;
  const auto A = generate<double>(context, kGrid);
  ShiftedInverse<double, HostContext> inverse(A.view());
  MultiVector<double, HostSpace> X(context, A.rows(), 2), Y(context, A.rows(), 2);
  fill_random<double>(context, 1, 0, X.view());
  const auto apply = [&] { inverse.apply(context, std::as_const(X).view(), Y.view()); };
  EXPECT_THROW(apply(), InvalidArgument);
  EXPECT_EQ(inverse.factor_entries(), 0);
  EXPECT_TRUE(inverse.factor(context, 0));
  EXPECT_NO_THROW(apply());
  EXPECT_GE(inverse.factor_entries(), static_cast<double>(A.nnz() + A.rows()) / 2);
  EXPECT_FALSE(inverse.factor(context, 1));
  EXPECT_THROW(apply(), InvalidArgument);
  EXPECT_TRUE(inverse.factor(context, -1));
  EXPECT_NO_THROW(apply());
}

TEST(ShiftedInverse, ItsCostIsKnownBeforehandAndBounded) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace3d", {8, 8, 8}});
  ShiftedInverse<double, HostContext> inverse(A.view());
  const auto few = inverse.cost_in_products(context, 10);
  const auto many = inverse.cost_in_products(context, 100);
  ASSERT_TRUE(few && many);
  EXPECT_GT(*few, 10);
  EXPECT_GT(*many - *few, 90);
  EXPECT_GT(inverse.seconds_to_factor(context), 0);
  ShiftedInverse<double, HostContext> bounded(A.view(), {}, 1e5);
  EXPECT_FALSE(bounded.cost_in_products(context, 10));
  EXPECT_EQ(bounded.seconds_to_factor(context), 0);
  EXPECT_THROW(bounded.factor(context, 0), OutOfMemory);
}

TEST(ShiftedInverse, ShapesThatDoNotFitAreRefused) {
  HostContext context;
  const auto A = generate<double>(context, kGrid);
  const auto other = generate<double>(context, {"laplace1d", {7}});
  HostCsrMatrix<double> wide(context, 2, 3, 0);
  std::fill_n(wide.row_offsets(), 3, 0);
  using Inverse = ShiftedInverse<double, HostContext>;
  EXPECT_THROW(Inverse(A.view(), other.view()), InvalidArgument);
  EXPECT_THROW(Inverse(std::as_const(wide).view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
