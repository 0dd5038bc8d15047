#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <limits>
#include <vector>

#include "linalg/small/cholesky_qr_battery.hpp"
#include "support/cuda_test.hpp"
#include "support/on_device.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::OnDevice;
using test::RandomSmall;
using test::tolerance;

using CudaSmallDense = test::CudaTest;

/// Both sides of the orders at which an implementation changes.
const std::vector<Index> kOrders = {0, 1, 2, 3, 7, 31, 32, 33, 80, 81, 127, 128, 129, 200};

/// MᵀM + I/4 for a random M.
RandomSmall positive_definite(Index order) {
  HostContext host(1);
  RandomSmall M(order, order, 5);
  RandomSmall G(order, order, 6);
  small_multiply(host, 1, M.view(), true, M.view(), false, 0, G.view());
  for (Index i = 0; i < order; ++i) G.view()(i, i) += 0.25;
  return G;
}

RandomSmall symmetric(Index order, unsigned seed) {
  RandomSmall H(order, order, seed);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < j; ++i) H.view()(i, j) = H.view()(j, i);
  }
  return H;
}

double largest_difference(RandomSmall& A, RandomSmall& B) {
  double largest = 0;
  for (std::size_t k = 0; k < A.data().size(); ++k) {
    const double difference = std::abs(A.data()[k] - B.data()[k]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

TEST_F(CudaSmallDense, CholeskyFactorsTheUpperTriangle) {
  HostContext host(1);
  for (const Index m : kOrders) {
    RandomSmall G = positive_definite(m);
    RandomSmall R = G;
    RandomSmall product = G;
    for (Index j = 0; j < m; ++j) {
      for (Index i = j + 1; i < m; ++i) R.view()(i, j) = std::numeric_limits<double>::quiet_NaN();
    }
    const CholeskyStatus status = cholesky(OnDevice{context()}, R.view());
    ASSERT_TRUE(status.positive_definite) << "order " << m;
    double least = 1;
    double most = m == 0 ? 1 : 0;
    for (Index j = 0; j < m; ++j) {
      least = j == 0 ? R.view()(j, j) : std::min(least, R.view()(j, j));
      most = std::max(most, R.view()(j, j));
      for (Index i = j + 1; i < m; ++i) ASSERT_EQ(R.view()(i, j), 0);
    }
    EXPECT_EQ(status.diagonal_ratio, least / most);
    small_multiply(host, 1, R.view(), true, R.view(), false, 0, product.view());
    const double order = static_cast<double>(m);
    EXPECT_LE(largest_difference(product, G), tolerance<double>(order, order)) << "order " << m;
  }
}

TEST_F(CudaSmallDense, CholeskyQrOrthonormalizesColumns) {
  for (const Index m : kOrders) {
    if (m > 0) test::expect_orthonormal_coefficients(OnDevice{context()}, 0, m);
  }
}

TEST_F(CudaSmallDense, CholeskyQrOrthonormalizesColumnsAgainstABasis) {
  for (const Index m : {1, 20, 128, 129, 200}) {
    for (const Index basis : {1, 5, 40}) {
      test::expect_orthonormal_coefficients(OnDevice{context()}, basis, m);
    }
  }
}

TEST_F(CudaSmallDense, CholeskyQrTakesColumnsOfAnyLength) {
  for (const Index m : {20, 128, 129}) {
    for (const Index basis : {0, 5}) test::expect_lengths_cancel(OnDevice{context()}, basis, m);
  }
}

TEST_F(CudaSmallDense, CholeskyQrSaysWhereThereIsNoFactor) {
  for (const Index m : {10, 150}) {
    for (const Index basis : {0, 5}) {
      for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        test::expect_no_coefficients(OnDevice{context()}, basis, m, bad);
      }
    }
  }
}

TEST_F(CudaSmallDense, CholeskyRefusesWhatIsNotPositiveDefinite) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const Index m : {10, 150}) {
    for (const double bad : {0.0, -1.0, kNan, kInf}) {
      for (const Index place : {Index{0}, m / 2, m - 1}) {
        RandomSmall G = positive_definite(m);
        G.view()(place, place) = bad;
        const CholeskyStatus status = cholesky(OnDevice{context()}, G.view());
        EXPECT_FALSE(status.positive_definite) << bad << " at " << place << " of " << m;
        EXPECT_EQ(status.diagonal_ratio, 0);
      }
    }
  }
}

TEST_F(CudaSmallDense, InverseOfATriangleInsideALargerMatrix) {
  HostContext host(1);
  for (const Index m : kOrders) {
    RandomSmall large(m + 3, m + 2, 1);
    const auto R = large.view().block(1, 2, m, m);
    for (Index j = 0; j < m; ++j) {
      R(j, j) += R(j, j) > 0 ? static_cast<double>(m) : -static_cast<double>(m);
      for (Index i = j + 1; i < m; ++i) R(i, j) = 0;
    }
    RandomSmall before = large;
    invert_upper(OnDevice{context()}, R);
    RandomSmall product(m, m, 2);
    RandomSmall identity(m, m, 3);
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < m; ++i) identity.view()(i, j) = i == j ? 1 : 0;
    }
    small_multiply(host, 1, before.view().block(1, 2, m, m), false, R, false, 0, product.view());
    const double order = static_cast<double>(m);
    EXPECT_LE(largest_difference(product, identity), tolerance<double>(1, order)) << "order " << m;
    EXPECT_EQ(large.view()(0, 0), before.view()(0, 0));
    EXPECT_EQ(large.view()(m + 2, m + 1), before.view()(m + 2, m + 1));
  }
}

TEST_F(CudaSmallDense, MultiplyAllTranspositions) {
  HostContext host(1);
  for (const Index k : {0, 7, 40}) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        RandomSmall A(transpose_a ? k : 24, transpose_a ? 24 : k, 1);
        RandomSmall B(transpose_b ? 65 : k, transpose_b ? k : 65, 2);
        RandomSmall C(24, 65, 3);
        RandomSmall expected(24, 65, 3);
        small_multiply(OnDevice{context()}, 2, A.view(), transpose_a, B.view(), transpose_b, -0.5,
                       C.view());
        small_multiply(host, 2, A.view(), transpose_a, B.view(), transpose_b, -0.5,
                       expected.view());
        const double inner = static_cast<double>(k);
        ASSERT_LE(largest_difference(C, expected), tolerance<double>(2 * inner + 1, inner));
      }
    }
  }
}

/// An eigendecomposition on the device of a matrix in host memory; theta and Z come back.
bool decompose(CudaContext& context, SymmetricEigensolver<CudaContext>& solver, RandomSmall& H,
               RandomSmall& theta, RandomSmall& Z) {
  bool good = false;
  test::mirrored(
      OnDevice{context},
      [&](CudaContext& c, auto h, auto t, auto z) { good = solver.compute(c, h, t, z); },
      ConstSmallView<double, HostSpace>(H.view()), theta.view(), Z.view());
  return good;
}

TEST_F(CudaSmallDense, EigenpairsOfRandomMatrices) {
  HostContext host(1);
  SymmetricEigensolver<CudaContext> solver;
  for (const Index m : kOrders) {
    RandomSmall H = symmetric(m, 4);
    RandomSmall theta(m, 1, 0);
    RandomSmall Z(m, m, 0);
    ASSERT_TRUE(decompose(context(), solver, H, theta, Z)) << "order " << m;
    RandomSmall HZ(m, m, 0);
    RandomSmall scaled = Z;
    RandomSmall ZTZ(m, m, 0);
    RandomSmall identity(m, m, 0);
    small_multiply(host, 1, H.view(), false, Z.view(), false, 0, HZ.view());
    small_multiply(host, 1, Z.view(), true, Z.view(), false, 0, ZTZ.view());
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < m; ++i) {
        scaled.view()(i, j) *= theta.view()(j, 0);
        identity.view()(i, j) = i == j ? 1 : 0;
      }
      if (j > 0) {
        ASSERT_LE(theta.view()(j - 1, 0), theta.view()(j, 0));
      }
    }
    const double order = static_cast<double>(m);
    EXPECT_LE(largest_difference(HZ, scaled), tolerance<double>(order, order)) << "order " << m;
    EXPECT_LE(largest_difference(ZTZ, identity), tolerance<double>(1, order)) << "order " << m;
  }
}

TEST_F(CudaSmallDense, EigensolverReportsNanAndKeepsItsMemory) {
  SymmetricEigensolver<CudaContext> solver;
  for (const Index m : {12, 100}) {
    RandomSmall H = symmetric(m, 1);
    RandomSmall theta(m, 1, 0);
    RandomSmall Z(m, m, 0);
    ASSERT_TRUE(decompose(context(), solver, H, theta, Z));
    const std::size_t mirrors = 3;
    const std::size_t before = context().allocation_count().allocations;
    ASSERT_TRUE(decompose(context(), solver, H, theta, Z));
    EXPECT_EQ(context().allocation_count().allocations, before + mirrors);
    H.view()(7, 3) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(decompose(context(), solver, H, theta, Z)) << "order " << m;
  }
}

TEST_F(CudaSmallDense, ShapesThatDoNotFitAreRefused) {
  SymmetricEigensolver<CudaContext> solver;
  RandomSmall A(4, 3, 1);
  RandomSmall B(3, 5, 2);
  RandomSmall C(4, 5, 3);
  const OnDevice on{context()};
  EXPECT_THROW(small_multiply(on, 1, A.view(), true, B.view(), false, 0, C.view()),
               InvalidArgument);
  EXPECT_THROW(cholesky(on, A.view()), InvalidArgument);
  EXPECT_THROW(invert_upper(on, A.view()), InvalidArgument);
  EXPECT_THROW(decompose(context(), solver, A, B, C), InvalidArgument);
}

}  // namespace
}  // namespace heddle
