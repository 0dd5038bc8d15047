#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/cudss_library.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <string>
#include <vector>

#include "support/cuda_test.hpp"
#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::eigenvalues;
using test::to_dense;

/// Tests of indefinite factors by cuDSS. They are skipped where it is missing.
template <class T>
class CudssFactor : public test::CudaTest {
 protected:
  using Inverse = IndefiniteInverse<T, CudaContext>;
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

  /// An n×b block of random numbers, and what the inverse makes of it.
  std::pair<Eigen::MatrixXd, Eigen::MatrixXd> applied(Inverse& inverse, Index b) {
    const Index n = inverse.rows();
    MultiVector<T, DeviceSpace> X(context(), n, b), Y(context(), n, b);
    fill_random<T>(context(), 1, 0, X.view());
    inverse.apply(context(), std::as_const(X).view(), Y.view());
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
TYPED_TEST_SUITE(CudssFactor, Scalars);

/// Counts and solves between all eigenvalues of a pencil that are not close together.
TYPED_TEST(CudssFactor, CountsAndSolvesAreThoseOfADenseSolve) {
  using T = TypeParam;
  const auto K = this->generated("elasticity3d", {4, 3, 5});
  const auto M = this->generated("elasticity3d_mass", {4, 3, 5});
  const Eigen::MatrixXd A = to_dense(K.view()), B = to_dense(M.view());
  const Eigen::VectorXd truth = eigenvalues(A, B);
  const auto on_K = this->device(K), on_M = this->device(M);
  typename TestFixture::Inverse inverse(on_K.view(), on_M.view(), 1e9, FactorLibrary::cudss);
  for (Eigen::Index i = 0; i + 1 < truth.size(); i += 7) {
    if (truth[i + 1] - truth[i] < 1e-5 * truth[truth.size() - 1]) continue;
    const double sigma = (truth[i] + truth[i + 1]) / 2;
    ASSERT_TRUE(inverse.factor(this->context(), sigma)) << sigma;
    EXPECT_EQ(inverse.below(), i + 1);
    const Eigen::MatrixXd shifted = A - sigma * B;
    for (const Index cols : {1, 5, 8, 33}) {
      const auto [x, y] = this->applied(inverse, cols);
      EXPECT_LE((shifted * y - x).norm(),
                test::tolerance<T>(shifted.norm() * y.norm(), static_cast<double>(A.rows())));
    }
  }
  EXPECT_EQ(inverse.library(), "cuDSS");
  EXPECT_GE(inverse.factor_entries(), static_cast<double>(K.nnz() + K.rows()) / 2);
}

TYPED_TEST(CudssFactor, SolvesHaveTheSameBitsEveryTimeInTheDeterministicMode) {
  const auto A = this->generated("laplace3d", {14, 15, 16});
  const auto on_A = this->device(A);
  std::vector<Eigen::MatrixXd> solutions;
  for (int run = 0; run < 3; ++run) {
    typename TestFixture::Inverse inverse(on_A.view(), {}, 1e9, FactorLibrary::cudss_deterministic);
    ASSERT_TRUE(inverse.factor(this->context(), 2.345));
    solutions.push_back(this->applied(inverse, 8).second);
    EXPECT_EQ(solutions.front(), solutions.back()) << run;
  }
}

/// Pairs near ±1: no pivot of one row exists at σ = 0, so that the host takes over.
TYPED_TEST(CudssFactor, PivotsOfTwoRowsAreCounted) {
  using T = TypeParam;
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < 40; i += 2) {
    entries.push_back({i, i + 1, 1});
    entries.push_back({i + 1, i, 1});
    if (i > 0) {
      entries.push_back({i, i - 1, T(0.1)});
      entries.push_back({i - 1, i, T(0.1)});
    }
  }
  const auto A = csr_from_triplets<T>(this->host_, 40, 40, entries);
  const auto on_A = this->device(A);
  typename TestFixture::Inverse inverse(on_A.view());
  ASSERT_TRUE(inverse.factor(this->context(), 0));
  EXPECT_EQ(inverse.below(), 20);
  this->RecordProperty("library", inverse.library());
}

TYPED_TEST(CudssFactor, ThereIsNoFactorOnAnEigenvalue) {
  const std::vector<Index> size = {9, 11};
  const auto A = this->generated("laplace2d", size);
  const auto on_A = this->device(A);
  const std::vector<double> values = laplace_smallest_eigenvalues(size, 30);
  typename TestFixture::Inverse inverse(on_A.view(), {}, 1e9, FactorLibrary::cudss);
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{29}}) {
    EXPECT_FALSE(inverse.factor(this->context(), values[i])) << i;
    EXPECT_TRUE(inverse.factor(this->context(), values[i] + 1e-8)) << i;
  }
}

TYPED_TEST(CudssFactor, ALimitOfMemoryIsKept) {
  const auto A = this->generated("laplace3d", {20, 20, 20});
  const auto on_A = this->device(A);
  typename TestFixture::Inverse inverse(on_A.view(), {}, 1e3, FactorLibrary::cudss);
  EXPECT_THROW(inverse.factor(this->context(), 2.345), OutOfMemory);
}

TYPED_TEST(CudssFactor, PairsNearANumberAreProven) {
  using T = TypeParam;
  const std::vector<Index> size = {13, 14, 15};
  const auto A = this->generated("laplace3d", size);
  const auto on_A = this->device(A);
  SparseOperator<T, CudaContext> A_operator(this->context(), on_A.view());
  typename TestFixture::Inverse inverse(on_A.view(), {}, 1e9, FactorLibrary::cudss);
  NearestOptions options;
  options.sigma = 2.345;
  options.nev = 20;
  const auto result =
      nearest_eigenpairs<T, CudaContext>(this->context(), {.A = &A_operator}, inverse, options);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_TRUE(result.completeness.proven) << result.reason;
  std::vector<double> truth = laplace_smallest_eigenvalues(size, A.rows());
  std::sort(truth.begin(), truth.end(), [&](double a, double b) {
    return std::abs(a - options.sigma) < std::abs(b - options.sigma);
  });
  truth.resize(20);
  std::sort(truth.begin(), truth.end());
  const double accuracy = std::same_as<T, double> ? 1e-7 : 1e-3;
  ASSERT_EQ(result.eigenvalues.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_NEAR(result.eigenvalues[i], truth[i], accuracy) << i;
  }
}

}  // namespace
}  // namespace heddle
