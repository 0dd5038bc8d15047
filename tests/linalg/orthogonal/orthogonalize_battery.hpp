#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/orthogonal/orthogonalize_support.hpp"

/// The tests that `project` and `orthonormalize` pass on every backend. `Backend` names the scalar,
/// what stands for its context, and a fixture whose `on()` is that for blocks in host memory.
namespace heddle {
namespace {

using test::conditioned;
using test::eps;
using test::expect_orthonormal;
using test::expect_span;
using test::ImagedBlock;
using test::kMass;
using test::RandomBlock;
using test::RandomSmall;
using test::refresh_image;
using test::tolerance;
using test::Tridiagonal;
using test::with_image;

constexpr Index kRows = 600;

const Tridiagonal kGraded{
    [](Index i) { return std::pow(10.0, 8 * static_cast<double>(i) / (kRows - 1)); }};

template <class Backend>
class Orthogonalize : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;

  OrthoReport orthonormalize(ImagedBlock<T>& block) {
    return orthonormalize(block, block.X.view().cols());
  }

  /// The first `cols` columns only.
  OrthoReport orthonormalize(ImagedBlock<T>& block, Index cols) {
    auto&& context = this->on();
    Orthogonalizer<T, typename Backend::Context> orthogonalizer(context, cols, 1);
    return orthogonalizer.orthonormalize(context, block.X.view().columns(0, cols),
                                         block.BX().columns(0, cols));
  }
};

TYPED_TEST_SUITE_P(Orthogonalize);

/// Largest condition number at which no column may be given up: what is left of one after taking
/// out the others must stand well above rounding.
template <class T>
bool must_keep_full_rank(double condition) {
  return condition * eps<T>() < 1e-3;
}

TYPED_TEST_P(Orthogonalize, EveryConditionNumber) {
  using T = typename TypeParam::Scalar;
  for (const Index m : {2, 12, 40}) {
    for (const double condition : {1.0, 3.0, 1e2, 1e4, 1e8, 1e12, 1e15}) {
      SCOPED_TRACE(::testing::Message() << m << " columns, condition " << condition);
      auto blocks = with_image(conditioned<T>(kRows, m, condition), nullptr);
      RandomBlock<T> before = blocks.X;
      const OrthoReport report = this->orthonormalize(blocks);
      EXPECT_TRUE(report.finite);
      EXPECT_FALSE(report.indefinite);
      if (must_keep_full_rank<T>(condition)) {
        EXPECT_EQ(report.rank, m);
      }
      expect_orthonormal(blocks, report.rank);
      expect_span(before, blocks, report.rank);
    }
  }
}

TYPED_TEST_P(Orthogonalize, TheLadderIsClimbedAsFarAsNeeded) {
  using T = typename TypeParam::Scalar;
  constexpr bool kIsDouble = std::same_as<T, double>;
  const auto method = [&](double condition) {
    auto blocks = with_image(conditioned<T>(kRows, 12, condition), nullptr);
    return this->orthonormalize(blocks).method;
  };
  EXPECT_EQ(method(1), OrthoMethod::cholqr);
  EXPECT_EQ(method(1e3), OrthoMethod::cholqr2);
  // In float, rounding of X drowns what a shift would bring up.
  EXPECT_EQ(method(1e9), kIsDouble ? OrthoMethod::shifted_cholqr3 : OrthoMethod::svqb);
  EXPECT_EQ(method(1e15), OrthoMethod::svqb);
}

TYPED_TEST_P(Orthogonalize, EveryConditionNumberInTheInnerProductOfB) {
  using T = typename TypeParam::Scalar;
  for (const Tridiagonal* B : {&kMass, &kGraded}) {
    for (const double condition : {1.0, 1e4, 1e8, 1e12, 1e15}) {
      SCOPED_TRACE(::testing::Message() << "condition " << condition);
      auto blocks = with_image(conditioned<T>(kRows, 12, condition), B);
      RandomBlock<T> before = blocks.X;
      const OrthoReport report = this->orthonormalize(blocks);
      EXPECT_TRUE(report.finite);
      EXPECT_FALSE(report.indefinite);
      if (must_keep_full_rank<T>(condition)) {
        EXPECT_EQ(report.rank, 12);
      }
      // The image followed X through ill-conditioned coefficients: as in the solvers, once more
      // with a fresh one.
      refresh_image(blocks, *B);
      const OrthoReport again = this->orthonormalize(blocks, report.rank);
      EXPECT_EQ(again.rank, report.rank);
      EXPECT_LE(again.method, OrthoMethod::cholqr2);
      expect_orthonormal(blocks, report.rank);
      expect_span(before, blocks, report.rank);
    }
  }
}

TYPED_TEST_P(Orthogonalize, TheImageStaysTheImage) {
  using T = typename TypeParam::Scalar;
  auto blocks = with_image(conditioned<T>(kRows, 8, 10), &kMass);
  this->orthonormalize(blocks);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < 8; ++j) {
      ASSERT_NEAR(blocks.BX()(i, j), kMass.row<T>(blocks.X.view(), i, j), tolerance<T>(1, 8));
    }
  }
}

TYPED_TEST_P(Orthogonalize, ExactRankLoss) {
  using T = typename TypeParam::Scalar;
  // Columns 3 and 7 copy others, 5 is zero, 9 is a sum: 8 of 12 are independent.
  RandomBlock<T> X(kRows, 12, 12, 3);
  for (Index i = 0; i < kRows; ++i) {
    X.view()(i, 3) = X.view()(i, 0);
    X.view()(i, 5) = 0;
    X.view()(i, 7) = 4 * X.view()(i, 2);
    X.view()(i, 9) = X.view()(i, 1) + X.view()(i, 8);
  }
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass}) {
    auto blocks = with_image(X, B);
    const OrthoReport report = this->orthonormalize(blocks);
    EXPECT_EQ(report.rank, 8);
    if (B == nullptr) expect_orthonormal(blocks, 8);
    expect_span(X, blocks, 8, 4);
  }
}

TYPED_TEST_P(Orthogonalize, LowRankFactors) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> Y(kRows, 5, 5, 1);
  RandomSmall C(5, 20, 2);
  RandomBlock<T> X(kRows, 20, 20, 3);
  multiply<T>(this->on(), 1, Y.view(), C.view(), 0, X.view());
  auto blocks = with_image(X, nullptr);
  const OrthoReport report = this->orthonormalize(blocks);
  EXPECT_EQ(report.rank, 5);
  expect_orthonormal(blocks, 5);
  expect_span(X, blocks, 5, 4);
}

TYPED_TEST_P(Orthogonalize, MoreColumnsThanRows) {
  using T = typename TypeParam::Scalar;
  auto blocks = with_image(RandomBlock<T>(7, 10, 10, 1), nullptr);
  const OrthoReport report = this->orthonormalize(blocks);
  EXPECT_EQ(report.rank, 7);
  expect_orthonormal(blocks, 7);
}

TYPED_TEST_P(Orthogonalize, ZeroBlocksAndEmptyOnes) {
  using T = typename TypeParam::Scalar;
  for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{50, 6}, {50, 0}, {0, 6}}) {
    RandomBlock<T> X(n, m, m + 1, 1);
    set_zero<T>(this->on(), X.view());
    auto blocks = with_image(X, nullptr);
    const OrthoReport report = this->orthonormalize(blocks);
    EXPECT_EQ(report.rank, 0);
    EXPECT_TRUE(report.finite);
    expect_orthonormal(blocks, 0);
  }
}

TYPED_TEST_P(Orthogonalize, OneColumn) {
  using T = typename TypeParam::Scalar;
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass, &kGraded}) {
    auto blocks = with_image(RandomBlock<T>(kRows, 1, 1, 1), B);
    EXPECT_EQ(this->orthonormalize(blocks).rank, 1);
    expect_orthonormal(blocks, 1);
  }
}

TYPED_TEST_P(Orthogonalize, ColumnsAtTheEndsOfTheRange) {
  using T = typename TypeParam::Scalar;
  const bool is_double = std::same_as<T, double>;
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass}) {
    for (const double spread : {1e12, is_double ? 1e150 : 1e18, is_double ? 1e300 : 1e36}) {
      SCOPED_TRACE(spread);
      RandomBlock<T> X = conditioned<T>(kRows, 6, 10);
      for (Index i = 0; i < kRows; ++i) {
        X.view()(i, 1) = static_cast<T>(X.view()(i, 1) * spread);
        X.view()(i, 4) = static_cast<T>(X.view()(i, 4) / spread);
      }
      auto blocks = with_image(X, B);
      RandomBlock<T> before = blocks.X;
      EXPECT_EQ(this->orthonormalize(blocks).rank, 6);
      expect_orthonormal(blocks, 6);
      expect_span(before, blocks, 6);
    }
  }
}

TYPED_TEST_P(Orthogonalize, NanAndInfLeaveTheBlockAlone) {
  using T = typename TypeParam::Scalar;
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (const bool in_image : {false, true}) {
      auto blocks = with_image(RandomBlock<T>(kRows, 5, 5, 1), &kMass);
      (in_image ? blocks.BX() : blocks.X.view())(123, 2) = bad;
      auto before = blocks;
      const OrthoReport report = this->orthonormalize(blocks);
      EXPECT_FALSE(report.finite);
      EXPECT_EQ(report.rank, 0);
      for (Index i = 0; i < kRows; ++i) {
        for (Index j = 0; j < 5; ++j) {
          if (i == 123 && j == 2) continue;
          ASSERT_EQ(blocks.X.view()(i, j), before.X.view()(i, j));
          ASSERT_EQ(blocks.BX()(i, j), before.BX()(i, j));
        }
      }
    }
  }
}

TYPED_TEST_P(Orthogonalize, IndefiniteBIsReported) {
  using T = typename TypeParam::Scalar;
  const Tridiagonal negative{[](Index) { return -1.0; }};
  const Tridiagonal mixed{[](Index i) { return i % 2 == 0 ? 1.0 : -0.5; }};
  const Tridiagonal one_negative{[](Index i) { return i == 0 ? -1.0 : 1.0; }};
  for (const Index m : {1, 9}) {
    auto blocks = with_image(RandomBlock<T>(kRows, m, m, 1), &negative);
    const OrthoReport report = this->orthonormalize(blocks);
    EXPECT_TRUE(report.indefinite);
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(report.rank, 0);
  }
  // Every column has xᵀBx > 0, but not every combination of them.
  RandomBlock<T> X(kRows, 9, 9, 1);
  for (Index j = 0; j < 9; ++j) X.view()(1, j) = 100;
  X.view()(1, 3) = -100;
  for (Index i = 0; i < kRows; i += 2) {
    for (Index j = 0; j < 9; ++j) X.view()(i, j) *= 10;
  }
  auto blocks = with_image(X, &mixed);
  const OrthoReport report = this->orthonormalize(blocks);
  EXPECT_TRUE(report.indefinite);
  // A block that never meets the one negative direction is none the wiser.
  RandomBlock<T> away(kRows, 4, 4, 1);
  for (Index j = 0; j < 4; ++j) away.view()(0, j) = 0;
  auto unaware = with_image(away, &one_negative);
  EXPECT_EQ(this->orthonormalize(unaware).rank, 4);
}

/// QᵀBX and the norms of X before and after a projection.
TYPED_TEST_P(Orthogonalize, ProjectionTwiceIsOrthogonalAndSaysSo) {
  using T = typename TypeParam::Scalar;
  auto&& context = this->on();
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass}) {
    auto basis = with_image(RandomBlock<T>(kRows, 20, 21, 1), B);
    ASSERT_EQ(this->orthonormalize(basis).rank, 20);
    // Column 0 lies in the basis except for one part in a thousand, column 1 mostly outside.
    auto blocks = with_image(RandomBlock<T>(kRows, 2, 3, 2), B);
    for (Index i = 0; i < kRows; ++i) {
      blocks.X.view()(i, 0) =
          static_cast<T>(blocks.X.view()(i, 0) * 1e-3 * std::sqrt(3.0 / kRows)) +
          basis.X.view()(i, 4);
    }
    if (B != nullptr) refresh_image(blocks, *B);
    Orthogonalizer<T, typename TypeParam::Context> orthogonalizer(context, 2, 20);
    const Basis<T, HostSpace> Q{basis.X.view(), basis.BX()};
    const auto norm = [&](Index j) {
      double sum = 0;
      for (Index i = 0; i < kRows; ++i) sum += std::pow(blocks.X.view()(i, j), 2);
      return std::sqrt(sum);
    };
    const double before = norm(0);
    const double first = orthogonalizer.project(context, Q, blocks.X.view(), blocks.BX());
    EXPECT_LT(first, 0.01);
    EXPECT_NEAR(first, norm(0) / before, tolerance<T>(first, kRows));
    const double second = orthogonalizer.project(context, Q, blocks.X.view(), blocks.BX());
    EXPECT_NEAR(second, 1, 1e-3);
    for (Index j = 0; j < 2; ++j) {
      for (Index q = 0; q < 20; ++q) {
        const auto with_Q = static_cast<double>(test::dot<T>(basis.BX(), q, blocks.X.view(), j));
        EXPECT_NEAR(with_Q / norm(j), 0, tolerance<T>(1, 20));
        // The image was projected along, from what it was before: its rounding stays.
        const auto with_image =
            static_cast<double>(test::dot<T>(basis.X.view(), q, blocks.BX(), j));
        EXPECT_NEAR(with_image, 0, tolerance<T>(1, kRows));
      }
    }
  }
}

TYPED_TEST_P(Orthogonalize, ProjectionWithoutImageOrBasis) {
  using T = typename TypeParam::Scalar;
  auto&& context = this->on();
  auto basis = with_image(RandomBlock<T>(kRows, 3, 3, 1), &kMass);
  this->orthonormalize(basis);
  auto with = with_image(RandomBlock<T>(kRows, 4, 4, 2), &kMass);
  auto without = with;
  Orthogonalizer<T, typename TypeParam::Context> orthogonalizer(context, 4, 3);
  const Basis<T, HostSpace> Q{basis.X.view(), basis.BX()};
  const Basis<T, HostSpace> nothing{basis.X.view().columns(0, 0), basis.BX().columns(0, 0)};
  orthogonalizer.project(context, Q, with.X.view(), with.BX());
  orthogonalizer.project(context, Q, without.X.view(), {});
  EXPECT_EQ(with.X.data(), without.X.data());
  EXPECT_EQ(orthogonalizer.project(context, nothing, with.X.view(), {}), 1);
  EXPECT_EQ(with.X.data(), without.X.data());
}

TYPED_TEST_P(Orthogonalize, ProjectionOfNanSaysNothing) {
  using T = typename TypeParam::Scalar;
  auto&& context = this->on();
  auto basis = with_image(RandomBlock<T>(kRows, 3, 3, 1), nullptr);
  this->orthonormalize(basis);
  RandomBlock<T> X(kRows, 2, 2, 2);
  X.view()(5, 1) = std::numeric_limits<T>::quiet_NaN();
  Orthogonalizer<T, typename TypeParam::Context> orthogonalizer(context, 2, 3);
  EXPECT_EQ(orthogonalizer.project(context, {basis.X.view(), basis.BX()}, X.view(), {}), 0);
}

REGISTER_TYPED_TEST_SUITE_P(Orthogonalize, EveryConditionNumber, TheLadderIsClimbedAsFarAsNeeded,
                            EveryConditionNumberInTheInnerProductOfB, TheImageStaysTheImage,
                            ExactRankLoss, LowRankFactors, MoreColumnsThanRows,
                            ZeroBlocksAndEmptyOnes, OneColumn, ColumnsAtTheEndsOfTheRange,
                            NanAndInfLeaveTheBlockAlone, IndefiniteBIsReported,
                            ProjectionTwiceIsOrthogonalAndSaysSo, ProjectionWithoutImageOrBasis,
                            ProjectionOfNanSaysNothing);

}  // namespace
}  // namespace heddle
