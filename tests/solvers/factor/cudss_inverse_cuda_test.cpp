#include <Eigen/Core>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <limits>

#include "solvers/eigen_test_support.hpp"
#include "support/cuda_test.hpp"
#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::to_dense;

/// Tests that need cuDSS. They are skipped where it is missing.
template <class T>
class CudssInverse : public test::CudaTest {
 protected:
  using Inverse = ShiftedInverse<T, CudaContext>;
  using Matrix = CsrMatrix<T, DeviceSpace>;

  void SetUp() override {
    test::CudaTest::SetUp();
    if (IsSkipped()) return;
    const std::string& missing = detail::cudss_missing();
    if (!missing.empty()) GTEST_SKIP() << "skipped: " << missing;
  }

  Matrix device(const HostCsrMatrix<T>& A) { return place<T>(context(), A.view()); }
  HostCsrMatrix<T> generated(const std::string& name, std::vector<Index> size) {
    return generate<T>(host_, {name, std::move(size)});
  }

  Inverse inverse(const Matrix& A, CsrView<T, DeviceSpace> B = {},
                  double max_bytes = Inverse::kDefaultMaxBytes,
                  FactorLibrary library = FactorLibrary::cudss) {
    return Inverse(A.view(), B, max_bytes, library);
  }

  /// An n×b block of random numbers, and what `apply` makes of it.
  template <class Apply>
  std::pair<Eigen::MatrixXd, Eigen::MatrixXd> applied(Index n, Index b, const Apply& apply) {
    MultiVector<T, DeviceSpace> X(context(), n, b), Y(context(), n, b);
    fill_random<T>(context(), 1, 0, X.view());
    apply(std::as_const(X).view(), Y.view());
    return {on_host(std::as_const(X).view()), on_host(std::as_const(Y).view())};
  }

  Eigen::MatrixXd on_host(ConstBlockView<T, DeviceSpace> X) {
    MultiVector<T, HostSpace> copied(host_, X.rows(), X.cols());
    fetch<T>(context(), X, copied.view());
    return to_dense<T>(std::as_const(copied).view());
  }

  HostContext host_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(CudssInverse, Scalars);

TYPED_TEST(CudssInverse, SolvesWithThePencil) {
  using T = TypeParam;
  const auto K = this->generated("elasticity3d", {4, 3, 5});
  const auto M = this->generated("elasticity3d_mass", {4, 3, 5});
  const auto on_K = this->device(K), on_M = this->device(M);
  auto inverse = this->inverse(on_K, on_M.view());
  for (const double sigma : {-2.0, -0.25}) {
    ASSERT_TRUE(inverse.factor(this->context(), sigma));
    EXPECT_EQ(inverse.shift(), sigma);
    const Eigen::MatrixXd A = to_dense(K.view()) - sigma * to_dense(M.view());
    for (const Index cols : {1, 5, 8, 33}) {
      const auto [x, y] = this->applied(K.rows(), cols, [&](const auto& X, const auto& Y) {
        inverse.apply(this->context(), X, Y);
      });
      EXPECT_LE((A * y - x).norm(),
                test::tolerance<T>(A.norm() * y.norm(), static_cast<double>(A.rows())));
    }
  }
  EXPECT_EQ(inverse.library().substr(0, 6), "cuDSS ");
  EXPECT_GE(inverse.factor_entries(), static_cast<double>(K.nnz() + K.rows()) / 2);
}

/// F = L⁻¹P makes FᵀF the inverse, which tells L⁻¹ from L⁻¹ with another diagonal.
TYPED_TEST(CudssInverse, ItsHalvesMultiplyToTheInverse) {
  using T = TypeParam;
  const auto K = this->generated("elasticity3d", {4, 3, 5});
  const auto M = this->generated("elasticity3d_mass", {4, 3, 5});
  const auto on_K = this->device(K), on_M = this->device(M);
  auto inverse = this->inverse(on_K, on_M.view());
  ASSERT_TRUE(inverse.factor(this->context(), -0.25));
  const Eigen::MatrixXd A = to_dense(K.view()) + 0.25 * to_dense(M.view());
  const auto [x, z] = this->applied(K.rows(), 6, [&](const auto& X, const auto& Y) {
    inverse.apply_lower(this->context(), X, Y);
  });
  const Eigen::MatrixXd exact = x.transpose() * test::solve_definite(A, x);
  const double n = static_cast<double>(A.rows());
  const double condition = A.norm() * test::inverse(A).norm();
  EXPECT_LE((z.transpose() * z - exact).norm(), test::tolerance<T>(condition * exact.norm(), n));
  const auto [x2, y] = this->applied(K.rows(), 6, [&](const auto& X, const auto& Y) {
    inverse.apply_lower(this->context(), X, Y);
    inverse.apply_upper(this->context(), Y, Y);
  });
  EXPECT_LE((A * y - x2).norm(), test::tolerance<T>(A.norm() * y.norm(), n));
}

/// A factor exists for σ below the smallest eigenvalue only. A failed one leaves nothing to apply,
/// and the next one is as good as the first.
TYPED_TEST(CudssInverse, AFactorExistsBelowTheSpectrumOnly) {
  for (const std::vector<Index>& size : {std::vector<Index>{9, 11}, {12, 12, 12}}) {
    const auto A = this->generated(size.size() == 2 ? "laplace2d" : "laplace3d", size);
    const auto on_A = this->device(A);
    const double least = laplace_smallest_eigenvalues(size, 1).front();
    auto inverse = this->inverse(on_A);
    MultiVector<TypeParam, DeviceSpace> X(this->context(), A.rows(), 2);
    const auto apply = [&] { inverse.apply(this->context(), std::as_const(X).view(), X.view()); };
    EXPECT_THROW(apply(), InvalidArgument);
    for (const double above : {least + 1e-8, 4.0, std::numeric_limits<double>::quiet_NaN()}) {
      EXPECT_FALSE(inverse.factor(this->context(), above)) << above;
      EXPECT_THROW(apply(), InvalidArgument);
      EXPECT_TRUE(inverse.factor(this->context(), least - 1e-8)) << above;
      EXPECT_NO_THROW(apply());
    }
  }
}

TYPED_TEST(CudssInverse, ASingularMatrixHasNoneButASmallShiftHelps) {
  for (const std::vector<Index>& size : {std::vector<Index>{9, 11}, {40, 41}}) {
    const auto A = graph_laplacian(this->host_, this->generated("laplace2d", size).view(),
                                   {.weights = EdgeWeights::unit});
    const auto on_A = this->device(A);
    auto inverse = this->inverse(on_A);
    EXPECT_FALSE(inverse.factor(this->context(), 0));
    EXPECT_TRUE(inverse.factor(this->context(), -1e-9));
  }
}

TYPED_TEST(CudssInverse, GivesTheSameBitsTwiceInItsDeterministicMode) {
  const auto on_A = this->device(this->generated("laplace3d", {14, 15, 16}));
  Eigen::MatrixXd first;
  for (int k = 0; k < 3; ++k) {
    auto inverse = this->inverse(on_A, {}, 1e9, FactorLibrary::cudss_deterministic);
    ASSERT_TRUE(inverse.factor(this->context(), 0));
    const auto [x, y] = this->applied(on_A.rows(), 8, [&](const auto& X, const auto& Y) {
      inverse.apply(this->context(), X, Y);
    });
    if (k == 0) first = y;
    EXPECT_EQ(y, first);
  }
}

TYPED_TEST(CudssInverse, AFactorBeyondTheMemoryGivenIsRefused) {
  const auto on_A = this->device(this->generated("laplace3d", {12, 12, 12}));
  auto inverse = this->inverse(on_A, {}, 1e5);
  EXPECT_FALSE(inverse.cost_in_products(this->context(), 10));
  EXPECT_EQ(inverse.seconds_to_factor(this->context()), 0);
  EXPECT_THROW(inverse.factor(this->context(), 0), OutOfMemory);
}

/// Entries that only A or only B has, and rows without an entry of A.
TYPED_TEST(CudssInverse, PatternsOfAAndBAreUnited) {
  using T = TypeParam;
  const auto A = csr_from_triplets<T>(
      this->host_, 4, 4, std::vector<Triplet<T>>{{0, 0, 2}, {1, 1, 2}, {0, 1, 1}, {1, 0, 1}});
  const auto B = csr_from_triplets<T>(
      this->host_, 4, 4,
      std::vector<Triplet<T>>{
          {0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {2, 3, T(0.5)}, {3, 2, T(0.5)}});
  const auto on_A = this->device(A), on_B = this->device(B);
  auto inverse = this->inverse(on_A, on_B.view());
  EXPECT_FALSE(inverse.factor(this->context(), 0));
  ASSERT_TRUE(inverse.factor(this->context(), -1));
  const auto [x, y] = this->applied(
      4, 3, [&](const auto& X, const auto& Y) { inverse.apply(this->context(), X, Y); });
  const Eigen::MatrixXd sum = to_dense(A.view()) + to_dense(B.view());
  EXPECT_LE((sum * y - x).norm(), test::tolerance<T>(sum.norm() * y.norm(), 4));
}

}  // namespace
}  // namespace heddle
