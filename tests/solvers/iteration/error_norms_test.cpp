#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <limits>

#include "solvers/eigen_test_support.hpp"
#include "support/dense.hpp"

namespace heddle::detail {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::to_dense;

template <class T>
class ErrorNormsTest : public testing::Test {
 protected:
  /// The number that `measure` gives for the only column of X.
  template <class Measure>
  double number(const Measure& measure) {
    SmallMatrix<double, HostSpace> one(context_, 1, 1);
    measure(one.view(1, 1));
    return one.view(1, 1)(0, 0);
  }

  HostContext context_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ErrorNormsTest, Scalars);

TYPED_TEST(ErrorNormsTest, BoundTheNormOfTheInverseOfB) {
  using T = TypeParam;
  const auto A = test::make_operator<T>(this->context_, {"elasticity3d", {4, 3, 3}});
  auto B = test::make_operator<T>(this->context_, {"elasticity3d_mass", {4, 3, 3}});
  const Index n = A.rows();
  const MatrixXd dense = to_dense(B.matrix());
  auto stiffness = test::make_operator<T>(this->context_, {"elasticity3d", {4, 3, 3}});
  ErrorNorms<T, HostContext> norms(this->context_, n, true);
  norms.prepare(this->context_, {.A = &stiffness, .B = &B});
  EXPECT_GT(norms.mu(), 0.01);
  EXPECT_LE(norms.mu(), 1);
  MultiVector<T, HostSpace> r(this->context_, n, 1);
  const test::DenseEigenpairs modes = test::eigenpairs(dense);
  for (const Index mode : {Index{0}, n / 2, n - 1}) {  // the extreme modes of B are the hardest
    for (Index i = 0; i < n; ++i) r.view()(i, 0) = static_cast<T>(modes.vectors(i, mode));
    const double exact = std::sqrt(1 / modes.values(mode));
    const double bound = norms.dual_norm(
        this->number([&](auto out) { norms.measure_residuals(this->context_, r.view(), out); }), 1);
    EXPECT_GE(bound, exact);
    EXPECT_LE(bound, 30 * exact);
  }
}

TYPED_TEST(ErrorNormsTest, AreExactForADiagonalB) {
  using T = TypeParam;
  const Index n = 60;
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < n; ++i)
    entries.push_back({i, i, static_cast<T>(std::pow(10.0, double(i % 7) - 3))});
  SparseOperator<T, HostContext> B(this->context_,
                                   csr_from_triplets<T>(this->context_, n, n, entries));
  ErrorNorms<T, HostContext> norms(this->context_, n, true);
  norms.prepare(this->context_, {.A = &B, .B = &B});
  EXPECT_NEAR(norms.mu(), 1, 1e3 * double(std::numeric_limits<T>::epsilon()));
  MultiVector<T, HostSpace> r(this->context_, n, 1);
  fill_random<T>(this->context_, 1, 0, r.view());
  double square = 0, size = 0, plain = 0;
  for (Index i = 0; i < n; ++i) {
    const double entry = static_cast<double>(r.view()(i, 0));
    plain += entry * entry;
    square += entry * entry / static_cast<double>(entries[static_cast<std::size_t>(i)].value);
    size += entry * entry * static_cast<double>(entries[static_cast<std::size_t>(i)].value);
  }
  const double accuracy = 1e4 * double(std::numeric_limits<T>::epsilon());
  const auto dual_norm = [&](double norm) {
    return norms.dual_norm(
        this->number([&](auto out) { norms.measure_residuals(this->context_, r.view(), out); }),
        norm);
  };
  EXPECT_NEAR(dual_norm(1), std::sqrt(square), accuracy * std::sqrt(square));
  EXPECT_NEAR(norms.size_A(this->number([&](auto out) {
    norms.measure_sizes_A(this->context_, r.view(), out);
  }),
                           1e9),
              size, accuracy * size);
  if (std::is_same_v<T, float>) return;
  for (Index i = 0; i < n; ++i) r.view()(i, 0) *= static_cast<T>(1e-170);  // squares underflow
  const double bound = dual_norm(1e-170 * std::sqrt(plain));
  EXPECT_GE(bound, 1e-170 * std::sqrt(square));
  EXPECT_LE(bound, 1e-168 * std::sqrt(square));
}

/// Operators that know no entries: D = I, and ‖A‖₁‖x‖² bounds the sizes.
TYPED_TEST(ErrorNormsTest, DoWithoutTheEntries) {
  using T = TypeParam;
  test::DiagonalOperator<T> B(test::counting(80, 2));
  ErrorNorms<T, HostContext> norms(this->context_, 80, true);
  norms.prepare(this->context_, {.A = &B, .B = &B});
  EXPECT_LE(norms.mu(), 2 * (1 + 1e-5));
  EXPECT_GE(norms.mu(), 0.9);  // half of the smallest eigenvalue
  EXPECT_DOUBLE_EQ(norms.dual_norm(3, 3), 3 / std::sqrt(norms.mu()));
  EXPECT_DOUBLE_EQ(norms.size_A(3, 7), 63);
  EXPECT_DOUBLE_EQ(norms.size_B(2, 5), 20);
}

}  // namespace
}  // namespace heddle::detail
