#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen_state.hpp>
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

double largest_difference(RandomSmall& A, RandomSmall& B) {
  double largest = 0;
  for (std::size_t k = 0; k < A.data().size(); ++k) {
    const double difference = std::abs(A.data()[k] - B.data()[k]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
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

TEST_F(CudaSmallDense, ShapesThatDoNotFitAreRefused) {
  RandomSmall A(4, 3, 1);
  RandomSmall B(3, 5, 2);
  RandomSmall C(4, 5, 3);
  const OnDevice on{context()};
  EXPECT_THROW(small_multiply(on, 1, A.view(), true, B.view(), false, 0, C.view()),
               InvalidArgument);
  EXPECT_THROW(cholesky_qr_coefficients(on, A.view(), B.view(), C.view()), InvalidArgument);
}

/// A symmetric matrix with the eigenvalues `wanted`, by reflections: H ← (I − 2vvᵀ) H (I − 2vvᵀ).
RandomSmall with_eigenvalues(const std::vector<double>& wanted) {
  const auto m = std::ssize(wanted);
  RandomSmall H(m, m, 1);
  const SmallView<double, HostSpace> h = H.view();
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) h(i, j) = i == j ? wanted[static_cast<std::size_t>(i)] : 0;
  }
  for (unsigned seed = 2; seed < 5; ++seed) {
    RandomSmall v(m, 1, seed);
    double square = 0;
    for (const double x : v.data()) square += x * x;
    for (int side = 0; side < 2; ++side) {
      for (Index j = 0; j < m; ++j) {
        double product = 0;
        for (Index i = 0; i < m; ++i) product += v.view()(i, 0) * (side == 0 ? h(i, j) : h(j, i));
        for (Index i = 0; i < m; ++i) {
          (side == 0 ? h(i, j) : h(j, i)) -= 2 * product / square * v.view()(i, 0);
        }
      }
    }
  }
  return H;
}

TEST_F(CudaSmallDense, EigenproblemsAreSolvedOnBothSidesOfTheLeastOrder) {
  const Index least = detail::DeviceEigensolver<double>::kLeastOrder;
  DenseEigensolver solver(context(), 400);
  for (const Index m : {Index{1}, least - 1, least, Index{257}, Index{400}}) {
    std::vector<double> wanted;  // with clusters
    for (Index k = 0; k < m; ++k) wanted.push_back(std::floor(static_cast<double>(k) / 3) - 20);
    RandomSmall H = with_eigenvalues(wanted);
    RandomSmall theta(m, 1, 7), Z(m, m, 8), again(m, m, 9);
    ASSERT_EQ(solver.solve(H.view(), theta.view(), Z.view()), DenseFailure::none);
    const double allowed = tolerance<double>(static_cast<double>(m), static_cast<double>(m));
    for (Index k = 0; k < m; ++k) {
      EXPECT_NEAR(theta.view()(k, 0), wanted[static_cast<std::size_t>(k)], allowed) << m;
    }
    double worst = 0, skew = 0;
    for (Index j = 0; j < m; ++j) {
      for (Index i = 0; i < m; ++i) {
        double product = 0, inner = i == j ? -1 : 0;
        for (Index k = 0; k < m; ++k) {
          product += H.view()(i, k) * Z.view()(k, j);
          inner += Z.view()(k, i) * Z.view()(k, j);
        }
        worst = std::max(worst, std::abs(product - Z.view()(i, j) * theta.view()(j, 0)));
        skew = std::max(skew, std::abs(inner));
      }
    }
    EXPECT_LE(worst, allowed) << m;
    EXPECT_LE(skew, allowed) << m;
    ASSERT_EQ(solver.solve(H.view(), theta.view(), again.view()), DenseFailure::none);
    EXPECT_EQ(Z.data(), again.data()) << m;
  }
}

TEST_F(CudaSmallDense, EigenproblemsThatAreNotFiniteFail) {
  const Index m = detail::DeviceEigensolver<double>::kLeastOrder;
  DenseEigensolver solver(context(), m);
  RandomSmall H(m, m, 1), theta(m, 1, 2), Z(m, m, 3);
  H.view()(m - 1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solver.solve(H.view(), theta.view(), Z.view()), DenseFailure::not_finite);
}

}  // namespace
}  // namespace heddle
