#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/sparse_cholesky.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>

#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/sanitized.hpp"
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

/// The tests of `SparseCholesky` run with every backend that heddle was built with.
class SparseCholeskyBackends : public testing::TestWithParam<const detail::CholeskyBackend*> {
 protected:
  /// The factorisation for A and B, analysed. Factors of up to `max_entries` fit.
  detail::SparseCholesky ordered(const CsrView<double, HostSpace>& A,
                                 const CsrView<double, HostSpace>& B, double max_entries = 1e9) {
    detail::SparseCholesky cholesky(context_, A, B, max_entries, *GetParam());
    fits_ = cholesky.analyse();
    return cholesky;
  }

  HostContext context_;
  bool fits_ = false;
};

std::vector<const detail::CholeskyBackend*> backends() {
  std::vector<const detail::CholeskyBackend*> all = {&detail::eigen_cholesky()};
  if (detail::cholmod_cholesky() != nullptr) all.push_back(detail::cholmod_cholesky());
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, SparseCholeskyBackends, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name()); });

/// The larger one has dense fronts that CHOLMOD factors as supernodes.
TEST_P(SparseCholeskyBackends, FactorsMultiplyToTheMatrixAndAreAsLargeAsForetold) {
  const Index edge = test::kSanitized ? 3 : 6;
  for (const std::vector<Index>& size : {std::vector<Index>{2, 3, 2}, {edge, edge, edge}}) {
    const auto K = generate<double>(context_, {"elasticity3d", size});
    const auto M = generate<double>(context_, {"elasticity3d_mass", size});
    const auto cholesky = ordered(K.view(), M.view());
    ASSERT_TRUE(fits_);
    for (const double sigma : {0.0, -0.5, -1e3}) {
      const auto made = cholesky.factor(context_, sigma);
      ASSERT_TRUE(made) << sigma;
      EXPECT_EQ(static_cast<double>(made->nnz()), cholesky.cost().entries);
      double operations = 0;
      const auto view = std::as_const(*made).view();
      for (Index k = 0; k < made->rows(); ++k) {
        const auto begin = view.row_offsets[k], end = view.row_offsets[k + 1];
        EXPECT_EQ(view.columns[begin], k);
        EXPECT_TRUE(std::is_sorted(view.columns + begin, view.columns + end)) << k;
        operations += static_cast<double>((end - begin) * (end - begin));
      }
      EXPECT_EQ(operations, cholesky.cost().operations);
      const Eigen::MatrixXd U = to_dense(view);
      const Eigen::MatrixXd A =
          permuted(to_dense(K.view()) - sigma * to_dense(M.view()), cholesky.order());
      EXPECT_LE((test::gram(U) - A).cwiseAbs().maxCoeff(),
                test::tolerance<double>(A.cwiseAbs().maxCoeff(), static_cast<double>(A.rows())));
    }
  }
}

/// A factor exists for σ below the smallest eigenvalue only, also for a matrix with large fronts.
TEST_P(SparseCholeskyBackends, AFactorExistsBelowTheSpectrumOnly) {
  for (const std::vector<Index>& size : {std::vector<Index>{9, 11}, {12, 12, 12}}) {
    const auto A = generate<double>(context_, {size.size() == 2 ? "laplace2d" : "laplace3d", size});
    const double least = laplace_smallest_eigenvalues(size, 1).front();
    const auto cholesky = ordered(A.view(), kIdentity);
    EXPECT_TRUE(cholesky.factor(context_, least - 1e-8));
    EXPECT_FALSE(cholesky.factor(context_, least + 1e-8));
    EXPECT_FALSE(cholesky.factor(context_, 4.0));
    EXPECT_FALSE(cholesky.factor(context_, std::numeric_limits<double>::quiet_NaN()));
  }
}

TEST_P(SparseCholeskyBackends, ASingularMatrixHasNoneButASmallShiftHelps) {
  const auto A = graph_laplacian(context_, generate<double>(context_, kGrid).view(),
                                 {.weights = EdgeWeights::unit});
  const auto cholesky = ordered(A.view(), kIdentity);
  EXPECT_FALSE(cholesky.factor(context_, 0));
  EXPECT_TRUE(cholesky.factor(context_, -1e-9));
}

TEST_P(SparseCholeskyBackends, ALimitEndsTheAnalysis) {
  const auto A = generate<double>(context_, kGrid);
  const double entries = ordered(A.view(), kIdentity).cost().entries;
  for (const double limit : {entries, entries - 1, 10.0}) {
    ordered(A.view(), kIdentity, limit);
    EXPECT_EQ(fits_, limit == entries) << limit;
  }
}

/// An order keeps the fill small also for a matrix without diagonal entries.
TEST_P(SparseCholeskyBackends, OrdersDoNotNeedADiagonal) {
  std::vector<Triplet<double>> edges;
  const auto grid = generate<double>(context_, {"laplace2d", {30, 30}});
  for (Index i = 0; i < grid.rows(); ++i) {
    for (auto e = grid.view().row_offsets[i]; e < grid.view().row_offsets[i + 1]; ++e) {
      if (grid.view().columns[e] != i) edges.push_back({i, grid.view().columns[e], -1});
    }
  }
  const auto A = csr_from_triplets<double>(context_, 900, 900, edges);
  const double with_diagonal = ordered(grid.view(), kIdentity).cost().entries;
  EXPECT_LT(ordered(A.view(), kIdentity).cost().entries, 1.2 * with_diagonal);
}

/// The entries that only B has count, and rows without any entry have a pivot of B.
TEST_P(SparseCholeskyBackends, PatternsOfAAndBAreUnited) {
  const auto A = csr_from_triplets<double>(
      context_, 4, 4, std::vector<Triplet<double>>{{0, 0, 2}, {1, 1, 2}, {0, 1, 1}, {1, 0, 1}});
  const auto B = csr_from_triplets<double>(
      context_, 4, 4,
      std::vector<Triplet<double>>{
          {0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {2, 3, 0.5}, {3, 2, 0.5}});
  const auto cholesky = ordered(A.view(), B.view());
  EXPECT_EQ(cholesky.cost().entries, 6);
  EXPECT_EQ(cholesky.cost().operations, 10);
  EXPECT_FALSE(cholesky.factor(context_, 0));
  const auto made = cholesky.factor(context_, -1);
  ASSERT_TRUE(made);
  const Eigen::MatrixXd U = to_dense(std::as_const(*made).view());
  const Eigen::MatrixXd sum = permuted(to_dense(A.view()) + to_dense(B.view()), cholesky.order());
  EXPECT_LE((U.transpose() * U - sum).norm(), 1e-14);
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

TEST(ShiftedInverse, TheRowsAreOrderedOnlyIfAFactorMayPay) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace3d", {12, 12, 12}});
  ShiftedInverse<double, HostContext> inverse(A.view());
  EXPECT_FALSE(inverse.pays(context, 100, 1000));
  EXPECT_FALSE(inverse.ordered());
  const auto profiled = [&](Phase phase) {
    context.enter(Phase::other);
    return context.profile()[phase].seconds;
  };
  EXPECT_GT(profiled(Phase::analysis), 0);
  EXPECT_EQ(profiled(Phase::ordering), 0);
  EXPECT_TRUE(inverse.pays(context, 100, 1e7));
  EXPECT_TRUE(inverse.ordered());
  EXPECT_GT(profiled(Phase::ordering), 0);
  EXPECT_EQ(profiled(Phase::factorization), 0);
  const double cost = *inverse.cost_in_products(context, 100);
  EXPECT_FALSE(inverse.pays(context, 100, cost));
  EXPECT_TRUE(inverse.pays(context, 100, 1.01 * cost));
  EXPECT_TRUE(inverse.factor(context, 0));
  EXPECT_GT(profiled(Phase::factorization), 0);
  ShiftedInverse<double, HostContext> bounded(A.view(), {}, 1e5);
  EXPECT_FALSE(bounded.pays(context, 10, 1e9));
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
