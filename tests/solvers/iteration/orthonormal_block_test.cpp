#include <bit>
#include <cmath>
#include <cstdint>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <limits>

#include "linalg/orthogonal/orthogonalize_support.hpp"

namespace heddle::detail {
namespace {

using test::RandomBlock;
using test::RandomSmall;

constexpr Index kRows = 256;
constexpr Index kBasis = 8;

/// An orthonormal basis whose entries no precision rounds: rows of a Hadamard matrix as columns.
template <class T>
RandomBlock<T> exact_basis() {
  RandomBlock<T> Q(kRows, kBasis, kBasis, 1);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kBasis; ++j) {
      Q.view()(i, j) =
          std::popcount(static_cast<std::uint64_t>(i & j)) % 2 == 0 ? T{1} / 16 : T{-1} / 16;
    }
  }
  return Q;
}

template <class T>
class TwoRounds : public ::testing::Test {
 protected:
  /// Whether V came out orthonormal to the exact basis.
  bool came_out(RandomBlock<T>& V) {
    const Index b = V.view().cols();
    Orthogonalizer<T, HostContext> orthogonalizer(context_, b, kBasis);
    RandomSmall status(CholeskyQrStatus::rows, 2, 1);
    for (Index round = 0; round < 2; ++round) {
      orthogonalizer.gram_schmidt(context_, {basis()}, V.view(), V.view(),
                                  status.view().block(0, round, CholeskyQrStatus::rows, 1));
    }
    return came_out_orthonormal<T>(status.view(), b);
  }

  Basis<T, HostSpace> basis() { return {Q_.view(), Q_.view()}; }

 private:
  HostContext context_{1};
  RandomBlock<T> Q_ = exact_basis<T>();
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(TwoRounds, Scalars);

TYPED_TEST(TwoRounds, WhatIsAcceptedIsOrthonormalAndSpansTheSame) {
  using T = TypeParam;
  for (const double outside : {1.0, 1e-2}) {
    RandomBlock<T> V(kRows, 7, 8, 2);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < 7; ++j) {
        V.view()(i, j) = static_cast<T>(outside * static_cast<double>(V.view()(i, j)) +
                                        static_cast<double>(this->basis().Q(i, j)));
      }
    }
    RandomBlock<T> before = V;
    ASSERT_TRUE(this->came_out(V));
    test::expect_orthonormal_columns<T>(V.view(), V.view());
    for (Index j = 0; j < 7; ++j) {
      test::expect_in_span<T>(before.view(), j, {this->basis(), {V.view(), V.view()}});
      for (Index q = 0; q < kBasis; ++q) {
        ASSERT_NEAR(static_cast<double>(test::dot<T>(this->basis().Q, q, V.view(), j)), 0,
                    test::tolerance<T>(1, kRows));
      }
    }
  }
}

TYPED_TEST(TwoRounds, DependentColumnsAreRefused) {
  using T = TypeParam;
  RandomBlock<T> twice(kRows, 5, 5, 2);
  RandomBlock<T> sum(kRows, 5, 5, 2);
  RandomBlock<T> inside(kRows, 5, 5, 2);
  RandomBlock<T> zero(kRows, 5, 5, 2);
  for (Index i = 0; i < kRows; ++i) {
    twice.view()(i, 3) = 2 * twice.view()(i, 1);
    sum.view()(i, 4) = sum.view()(i, 0) + sum.view()(i, 2);
    inside.view()(i, 1) = this->basis().Q(i, 6);
    zero.view()(i, 2) = 0;
  }
  EXPECT_FALSE(this->came_out(twice));
  EXPECT_FALSE(this->came_out(sum));
  EXPECT_FALSE(this->came_out(inside));
  EXPECT_FALSE(this->came_out(zero));
}

TYPED_TEST(TwoRounds, NanAndInfAreRefused) {
  using T = TypeParam;
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (const Index column : {0, 4}) {
      RandomBlock<T> V(kRows, 5, 5, 2);
      V.view()(123, column) = bad;
      EXPECT_FALSE(this->came_out(V));
    }
  }
}

/// Nothing but rounding errors is left of a column in the span of Q, here of one that no precision
/// divides. They may be nearly parallel to Q, so that the next round leaves rounding errors, too.
TEST(MakeOrthonormal, AColumnInTheSpanOfABasisLeavesNoPartInIt) {
  HostContext context(1);
  for (Index rows = 70; rows < 170; ++rows) {
    MultiVector<double, HostSpace> Q(context, rows, 1), V(context, rows, 4);
    fill_random<double>(context, 5, static_cast<std::uint64_t>(rows), V.view());
    for (Index i = 0; i < rows; ++i) {
      Q.view()(i, 0) = 1 / std::sqrt(static_cast<double>(rows));
      V.view()(i, 1) = 1;
    }
    Orthogonalizer<double, HostContext> orthogonalizer(context, 4, 1);
    OrthoCounts counts;
    const OrthonormalBlock made = make_orthonormal<double, HostContext>(
        context, orthogonalizer, nullptr, {Basis<double, HostSpace>{Q.view(), Q.view()}}, V.view(),
        V.view(), counts);
    EXPECT_GE(made.rank, 3);
    for (Index j = 0; j < made.rank; ++j) {
      EXPECT_NEAR(static_cast<double>(test::dot<double>(Q.view(), 0, V.view(), j)), 0, 1e-14)
          << rows;
    }
  }
}

}  // namespace
}  // namespace heddle::detail
