#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>
#include <numbers>
#include <vector>

#include "linalg/small/cholesky_qr_battery.hpp"
#include "support/allocations.hpp"
#include "support/random_block.hpp"
#include "support/sanitized.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::RandomSmall;
using test::tolerance;
using ConstSmall = ConstSmallView<double, HostSpace>;
using Small = SmallView<double, HostSpace>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<Index> kOrders = {0, 1, 2, 3, 7, 32, 33, 100, 200};

/// op(A) op(B), summed in long double.
RandomSmall product(ConstSmall A, bool transpose_a, ConstSmall B, bool transpose_b) {
  const Index rows = transpose_a ? A.cols : A.rows;
  const Index inner = transpose_a ? A.rows : A.cols;
  const Index cols = transpose_b ? B.rows : B.cols;
  RandomSmall result(rows, cols, 0);
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < rows; ++i) {
      long double sum = 0;
      for (Index k = 0; k < inner; ++k) {
        const double b = transpose_b ? B(j, k) : B(k, j);
        sum += static_cast<long double>(transpose_a ? A(k, i) : A(i, k)) * b;
      }
      result.view()(i, j) = static_cast<double>(sum);
    }
  }
  return result;
}

double largest_difference(ConstSmall A, ConstSmall B) {
  double largest = 0;
  for (Index j = 0; j < A.cols; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      const double difference = std::abs(A(i, j) - B(i, j));
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

RandomSmall identity(Index order) {
  RandomSmall I(order, order, 0);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < order; ++i) I.view()(i, j) = i == j ? 1 : 0;
  }
  return I;
}

RandomSmall symmetric(Index order, unsigned seed) {
  RandomSmall H(order, order, seed);
  for (Index j = 0; j < order; ++j) {
    for (Index i = 0; i < j; ++i) H.view()(i, j) = H.view()(j, i);
  }
  return H;
}

/// MᵀM + I/4 for a random M: κ of a few hundred times the order.
RandomSmall positive_definite(Index order) {
  RandomSmall M(order, order, 5);
  RandomSmall G = product(M.view(), true, M.view(), false);
  for (Index i = 0; i < order; ++i) G.view()(i, i) += 0.25;
  return G;
}

TEST(Cholesky, GivesTheFactorFromTheUpperTriangle) {
  HostContext context(1);
  for (const Index m : kOrders) {
    RandomSmall G = positive_definite(m);
    RandomSmall R = G;
    double scale = 1;
    for (Index j = 0; j < m; ++j) {
      scale = std::max(scale, G.view()(j, j));
      for (Index i = j + 1; i < m; ++i) R.view()(i, j) = kNan;
    }
    const CholeskyStatus status = cholesky(context, R.view());
    ASSERT_TRUE(status.positive_definite) << "order " << m;
    EXPECT_LE(largest_difference(product(R.view(), true, R.view(), false).view(), G.view()),
              tolerance<double>(scale, static_cast<double>(m)));
    double smallest = kInf;
    double largest = 0;
    for (Index j = 0; j < m; ++j) {
      smallest = std::min(smallest, R.view()(j, j));
      largest = std::max(largest, R.view()(j, j));
      for (Index i = j + 1; i < m; ++i) ASSERT_EQ(R.view()(i, j), 0);
    }
    EXPECT_EQ(status.diagonal_ratio, m == 0 ? 1 : smallest / largest);
  }
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  HostContext context(1);
  for (const double bad : {0.0, -1.0, kNan, kInf}) {
    for (const Index place : {0, 5, 9}) {
      RandomSmall G = positive_definite(10);
      G.view()(place, place) = bad;
      const CholeskyStatus status = cholesky(context, G.view());
      EXPECT_FALSE(status.positive_definite) << bad << " at " << place;
      EXPECT_EQ(status.diagonal_ratio, 0);
    }
  }
  RandomSmall off_diagonal = positive_definite(10);
  off_diagonal.view()(2, 7) = kNan;
  EXPECT_FALSE(cholesky(context, off_diagonal.view()).positive_definite);
}

TEST(CholeskyQr, OrthonormalizesColumns) {
  for (const Index m : kOrders) {
    if (m > 0) test::expect_orthonormal_coefficients(HostContext(1), 0, m);
  }
}

TEST(CholeskyQr, OrthonormalizesColumnsAgainstABasis) {
  for (const Index m : {1, 20, 128, 129, test::kSanitized ? 130 : 200}) {
    for (const Index basis : {1, 5, test::kSanitized ? 8 : 40}) {
      test::expect_orthonormal_coefficients(HostContext(1), basis, m);
    }
  }
}

TEST(CholeskyQr, TakesColumnsOfAnyLength) {
  for (const Index m : {20, 128, 129}) {
    for (const Index basis : {0, 5}) test::expect_lengths_cancel(HostContext(1), basis, m);
  }
}

TEST(CholeskyQr, SaysWhereThereIsNoFactor) {
  for (const Index m : {10, 150}) {
    for (const Index basis : {0, 5}) {
      for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
        test::expect_no_coefficients(HostContext(1), basis, m, bad);
      }
    }
  }
}

TEST(InvertUpper, GivesTheInverseInsideALargerMatrix) {
  HostContext context(1);
  for (const Index m : kOrders) {
    RandomSmall large(m + 3, m + 2, 1);
    const Small R = large.view().block(1, 2, m, m);
    for (Index j = 0; j < m; ++j) {
      R(j, j) += R(j, j) > 0 ? static_cast<double>(m) : -static_cast<double>(m);
      for (Index i = j + 1; i < m; ++i) R(i, j) = 0;
    }
    RandomSmall before = large;
    invert_upper(context, R);
    const ConstSmall R0 = before.view().block(1, 2, m, m);
    EXPECT_LE(largest_difference(product(R0, false, R, false).view(), identity(m).view()),
              tolerance<double>(1, static_cast<double>(m)));
    for (Index j = 0; j < m; ++j) {
      for (Index i = j + 1; i < m; ++i) ASSERT_EQ(R(i, j), 0);
    }
    EXPECT_EQ(large.view()(0, 0), before.view()(0, 0));
    EXPECT_EQ(large.view()(m + 2, m + 1), before.view()(m + 2, m + 1));
  }
}

TEST(SmallMultiply, AllTranspositions) {
  HostContext context(2);
  const std::vector<Index> sizes = {1, 5, 24, 65};
  for (const Index m : sizes) {
    for (const Index k : {Index{0}, Index{7}, Index{40}}) {
      for (const Index n : sizes) {
        for (const bool transpose_a : {false, true}) {
          for (const bool transpose_b : {false, true}) {
            RandomSmall A(transpose_a ? k : m, transpose_a ? m : k, 1);
            RandomSmall B(transpose_b ? n : k, transpose_b ? k : n, 2);
            RandomSmall large(m + 2, n, 3);
            RandomSmall before = large;
            const Small C = large.view().block(1, 0, m, n);
            small_multiply(context, 2, A.view(), transpose_a, B.view(), transpose_b, -0.5, C);
            RandomSmall expected = product(A.view(), transpose_a, B.view(), transpose_b);
            for (Index j = 0; j < n; ++j) {
              for (Index i = 0; i < m; ++i) {
                expected.view()(i, j) = 2 * expected.view()(i, j) - 0.5 * before.view()(i + 1, j);
              }
              ASSERT_EQ(large.view()(0, j), before.view()(0, j));
              ASSERT_EQ(large.view()(m + 1, j), before.view()(m + 1, j));
            }
            ASSERT_LE(largest_difference(C, expected.view()),
                      tolerance<double>(static_cast<double>(2 * k + 1), static_cast<double>(k)));
          }
        }
      }
    }
  }
}

TEST(SmallMultiply, OverwritesNanWhereBetaIsZeroAndNamesShapes) {
  HostContext context(1);
  RandomSmall A(4, 3, 1);
  RandomSmall B(3, 5, 2);
  RandomSmall C(4, 5, 3);
  std::fill(C.data().begin(), C.data().end(), kNan);
  small_multiply(context, 1, A.view(), false, B.view(), false, 0, C.view());
  EXPECT_LE(largest_difference(C.view(), product(A.view(), false, B.view(), false).view()),
            tolerance<double>(3, 3));
  EXPECT_THROW(small_multiply(context, 1, A.view(), true, B.view(), false, 0, C.view()),
               InvalidArgument);
  EXPECT_THROW(cholesky(context, A.view()), InvalidArgument);
  EXPECT_THROW(invert_upper(context, A.view()), InvalidArgument);
}

/// H Z = Z diag(θ), ZᵀZ = I and θ ascending, relative to ‖H‖ ≤ `norm`.
void expect_eigenpairs(ConstSmall H, ConstSmall theta, ConstSmall Z, double norm) {
  const Index m = H.rows;
  const double order = static_cast<double>(m);
  RandomSmall ZT(m, m, 0);
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) ZT.view()(i, j) = Z(i, j) * theta(j, 0);
    if (j > 0) {
      ASSERT_LE(theta(j - 1, 0), theta(j, 0));
    }
  }
  ASSERT_LE(largest_difference(product(H, false, Z, false).view(), ZT.view()),
            tolerance<double>(norm, order));
  ASSERT_LE(largest_difference(product(Z, true, Z, false).view(), identity(m).view()),
            tolerance<double>(1, order));
}

TEST(SymmetricEigensolver, RandomMatricesFromTheLowerTriangleAtAllScales) {
  HostContext context(1);
  SymmetricEigensolver<HostContext> solver;
  for (const Index m : kOrders) {
    for (const double scale : {1.0, 1e-300, 1e-150, 1e150, 1e300}) {
      RandomSmall H = symmetric(m, 4);
      for (double& value : H.data()) value *= scale;
      RandomSmall lower = H;
      for (Index j = 0; j < m; ++j) {
        for (Index i = 0; i < j; ++i) lower.view()(i, j) = kNan;
      }
      RandomSmall theta(m, 1, 0);
      ASSERT_TRUE(solver.compute(context, lower.view(), theta.view(), lower.view()));
      for (double& value : H.data()) value /= scale;
      for (double& value : theta.data()) value /= scale;
      expect_eigenpairs(H.view(), theta.view(), lower.view(), static_cast<double>(m));
    }
  }
}

TEST(SymmetricEigensolver, SecondDifferenceMatrixHasItsKnownSpectrum) {
  HostContext context(1);
  SymmetricEigensolver<HostContext> solver;
  const Index m = 80;
  RandomSmall H(m, m, 0);
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < m; ++i) H.view()(i, j) = i == j ? 2 : (std::abs(i - j) == 1 ? -1 : 0);
  }
  RandomSmall theta(m, 1, 0);
  RandomSmall Z(m, m, 0);
  ASSERT_TRUE(solver.compute(context, H.view(), theta.view(), Z.view()));
  expect_eigenpairs(H.view(), theta.view(), Z.view(), 4);
  for (Index k = 0; k < m; ++k) {
    const double angle = static_cast<double>(k + 1) * std::numbers::pi / (2 * (m + 1));
    EXPECT_NEAR(theta.view()(k, 0), 4 * std::pow(std::sin(angle), 2), tolerance<double>(4, m));
  }
}

TEST(SymmetricEigensolver, MultipleEigenvalues) {
  HostContext context(1);
  SymmetricEigensolver<HostContext> solver;
  const Index m = 40;
  RandomSmall theta(m, 1, 0);
  RandomSmall Z(m, m, 0);
  for (const double entry : {0.0, 1.0}) {  // the zero matrix, and all ones: 0 (39 times) and 40
    RandomSmall H(m, m, 0);
    std::fill(H.data().begin(), H.data().end(), entry);
    ASSERT_TRUE(solver.compute(context, H.view(), theta.view(), Z.view()));
    expect_eigenpairs(H.view(), theta.view(), Z.view(), static_cast<double>(m));
    EXPECT_NEAR(theta.view()(m - 2, 0), 0, tolerance<double>(m, m));
    EXPECT_NEAR(theta.view()(m - 1, 0), m * entry, tolerance<double>(m, m));
  }
}

TEST(SymmetricEigensolver, ReportsNanAndInf) {
  HostContext context(1);
  SymmetricEigensolver<HostContext> solver;
  RandomSmall theta(12, 1, 0);
  RandomSmall Z(12, 12, 0);
  for (const double bad : {kNan, kInf, -kInf}) {
    RandomSmall H = symmetric(12, 1);
    H.view()(7, 3) = bad;
    EXPECT_FALSE(solver.compute(context, H.view(), theta.view(), Z.view()));
  }
  EXPECT_THROW(solver.compute(context, Z.view(), Z.view(), Z.view()), InvalidArgument);
}

TEST(SmallDense, NothingIsAllocatedOnceALargerOrderWasMet) {
  HostContext context(1);
  SymmetricEigensolver<HostContext> solver;
  RandomSmall G = positive_definite(200);
  RandomSmall H = symmetric(200, 2);
  RandomSmall theta(200, 1, 3);
  RandomSmall C(200, 200, 4);
  RandomSmall Z(200, 200, 5);
  const auto run = [&](Index m) {
    cholesky(context, G.view().block(0, 0, m, m));
    invert_upper(context, G.view().block(0, 0, m, m));
    small_multiply(context, 1, G.view().block(0, 0, m, m), true, H.view().block(0, 0, m, m), false,
                   0, C.view().block(0, 0, m, m));
    solver.compute(context, H.view().block(0, 0, m, m), theta.view().block(0, 0, m, 1),
                   Z.view().block(0, 0, m, m));
  };
  run(200);
  const std::size_t heap_before = test::heap_allocations();
  const std::size_t context_before = context.allocation_count().allocations;
  run(150);
  EXPECT_EQ(test::heap_allocations(), heap_before);
  EXPECT_EQ(context.allocation_count().allocations, context_before);
}

TEST(HeapAllocations, AreSeen) {
  if (!test::counts_heap_allocations()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const std::size_t before = test::heap_allocations();
  const std::vector<double> some(100);
  EXPECT_GT(test::heap_allocations(), before) << some.size();
}

}  // namespace
}  // namespace heddle
