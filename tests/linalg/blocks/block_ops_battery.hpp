#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <limits>
#include <vector>

#include "linalg/blocks/block_ops_truth.hpp"
#include "linalg/blocks/widths.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

/// The tests that every backend's block operations pass. `Backend` names the scalar and a fixture
/// whose `on()` is what the operations take as their context for blocks in host memory.
namespace heddle {
namespace {

using test::expect_product;
using test::kCols;
using test::kRows;
using test::RandomBlock;
using test::RandomSmall;
using test::tolerance;
using test::width_pairs;

template <class Backend>
class BlockOps : public Backend::Fixture {};

TYPED_TEST_SUITE_P(BlockOps);

TYPED_TEST_P(BlockOps, Multiply) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const auto& [a, b] : width_pairs()) {
      RandomBlock<T> X(n, a, a + 3, 1);
      RandomSmall C(a, b, 2);
      RandomBlock<T> Y(n, b, b + 2, 3);
      RandomBlock<T> Y0(n, b, b + 2, 3);
      multiply<T>(this->on(), -0.75, X.view(), C.view(), 0.5, Y.view());
      expect_product<T>(-0.75, X.view(), C.view(), 0.5, Y0.view(), Y.view());
      for (Index i = 0; i < n; ++i) ASSERT_TRUE(std::isnan(Y.view().data()[i * (b + 2) + b]));
    }
  }
}

TYPED_TEST_P(BlockOps, MultiplyAddsAnotherBlock) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const auto& [a, b] : width_pairs()) {
      RandomBlock<T> X(n, a, a + 3, 1);
      RandomSmall C(a, b, 2);
      RandomBlock<T> W(n, b, b + 1, 3);
      RandomBlock<T> Y(n, b, b + 2, 4);
      std::fill(Y.data().begin(), Y.data().end(), std::numeric_limits<T>::quiet_NaN());
      multiply<T>(this->on(), -0.75, X.view(), C.view(), 0.5, W.view(), Y.view());
      expect_product<T>(-0.75, X.view(), C.view(), 0.5, W.view(), Y.view());
    }
  }
}

TYPED_TEST_P(BlockOps, MultiplyWithTheNormsOfTheResult) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const auto& [a, b] : width_pairs()) {
      RandomBlock<T> X(n, a, a + 3, 1);
      RandomSmall C(a, b, 2);
      if (std::same_as<T, double>) C.view()(0, 0) = 1e200;  // the squares of a column overflow
      RandomBlock<T> Y(n, b, b + 2, 3), expected(n, b, b + 2, 3);
      RandomSmall norms(b, 1, 4);
      multiply<T>(this->on(), -0.75, X.view(), C.view(), 0.5, Y.view(), norms.view());
      multiply<T>(this->on(), -0.75, X.view(), C.view(), 0.5, expected.view());
      for (Index j = 0; j < b; ++j) {
        long double sum = 0;
        for (Index i = 0; i < n; ++i) {
          ASSERT_EQ(Y.view()(i, j), expected.view()(i, j));
          sum += std::pow(static_cast<long double>(Y.view()(i, j)), 2);
        }
        const double norm = static_cast<double>(std::sqrt(sum));
        ASSERT_NEAR(norms.view()(j, 0), norm, tolerance<double>(norm, static_cast<double>(n)));
      }
    }
  }
}

TYPED_TEST_P(BlockOps, MultiplyOverItsOwnInput) {
  using T = typename TypeParam::Scalar;
  for (const auto& [a, b] : std::vector<std::pair<Index, Index>>{{72, 24}, {60, 48}, {33, 33}}) {
    for (const Index shift : {Index{0}, (a - b) / 2}) {
      RandomBlock<T> S(1003, a, a, 1);
      RandomBlock<T> S0(1003, a, a, 1);
      RandomSmall C(a, b, 2);
      const auto Y = S.view().columns(shift, b);
      multiply<T>(this->on(), 1, S.view(), C.view(), 2, Y);
      expect_product<T>(1, S0.view(), C.view(), 2, S0.view().columns(shift, b), Y);
      RandomBlock<T> S1(1003, a, a, 1);
      RandomBlock<T> W(1003, b, b, 4);
      const auto Y1 = S1.view().columns(shift, b);
      multiply<T>(this->on(), 1, S1.view(), C.view(), 2, W.view(), Y1);
      expect_product<T>(1, S0.view(), C.view(), 2, W.view(), Y1);
    }
  }
}

TYPED_TEST_P(BlockOps, MultiplyAndCopyOverItsOwnInput) {
  using T = typename TypeParam::Scalar;
  for (const auto& [a, b] : std::vector<std::pair<Index, Index>>{{44, 4}, {9, 2}, {33, 12}}) {
    RandomBlock<T> S(1003, a, a, 1);
    RandomBlock<T> S0(1003, a, a, 1);
    RandomSmall C(a, b, 2);
    RandomBlock<T> Z(1003, b, b + 1, 3);
    const auto Y = S.view().columns(a - b, b);
    multiply_and_copy<T>(this->on(), S.view(), C.view(), Y, Z.view());
    expect_product<T>(1, S0.view(), C.view(), 0, Y, Y);
    for (Index i = 0; i < 1003; ++i) {
      for (Index j = 0; j < b; ++j) ASSERT_EQ(Z.view()(i, j), Y(i, j));
      ASSERT_TRUE(std::isnan(Z.view().data()[i * (b + 1) + b]));
    }
  }
}

TYPED_TEST_P(BlockOps, MultiplyOverwritesNanWhereBetaIsZero) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(300, 7, 7, 1);
  RandomSmall C(7, 5, 2);
  RandomBlock<T> Y(300, 5, 6, 3);
  std::fill(Y.data().begin(), Y.data().end(), std::numeric_limits<T>::quiet_NaN());
  multiply<T>(this->on(), 1, X.view(), C.view(), 0, Y.view());
  expect_product<T>(1, X.view(), C.view(), 0, Y.view(), Y.view());
}

TYPED_TEST_P(BlockOps, MultiplyByNoColumnsScalesTheResult) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(30, 0, 1, 1);
  RandomSmall C(0, 5, 2);
  RandomBlock<T> Y(30, 5, 5, 3);
  RandomBlock<T> Y0(30, 5, 5, 3);
  multiply<T>(this->on(), 1, X.view(), C.view(), 0.5, Y.view());
  expect_product<T>(1, X.view(), C.view(), 0.5, Y0.view(), Y.view());
}

TYPED_TEST_P(BlockOps, ColumnNorms) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<T> X(n, b, b + 1, 1);
      RandomSmall norms(b, 1, 2);
      column_norms<T>(this->on(), X.view(), norms.view());
      for (Index j = 0; j < b; ++j) {
        long double sum = 0;
        for (Index i = 0; i < n; ++i) sum += std::pow(static_cast<long double>(X.view()(i, j)), 2);
        const double expected = static_cast<double>(std::sqrt(sum));
        ASSERT_NEAR(norms.view()(j, 0), expected,
                    tolerance<double>(expected, static_cast<double>(n)));
      }
    }
  }
}

TYPED_TEST_P(BlockOps, ColumnNormsAtTheEndsOfTheRange) {
  using T = typename TypeParam::Scalar;
  const std::vector<T> sizes = {std::numeric_limits<T>::max() / 64,
                                std::numeric_limits<T>::min(),
                                std::numeric_limits<T>::denorm_min(),
                                0,
                                1,
                                std::numeric_limits<T>::infinity(),
                                std::numeric_limits<T>::quiet_NaN()};
  const Index n = 1000;
  const Index b = static_cast<Index>(sizes.size());
  RandomBlock<T> X(n, b, b, 1);
  for (Index j = 0; j < b; ++j) {
    const T size = sizes[static_cast<std::size_t>(j)];
    for (Index i = 0; i < n; ++i) X.view()(i, j) = std::isfinite(size) || i == 3 ? size : T{1};
  }
  RandomSmall norms(b, 1, 2);
  column_norms<T>(this->on(), X.view(), norms.view());
  for (Index j = 0; j < b; ++j) {
    const double size = static_cast<double>(sizes[static_cast<std::size_t>(j)]);
    if (std::isfinite(size)) {
      const double expected = size * std::sqrt(static_cast<double>(n));
      ASSERT_NEAR(norms.view()(j, 0), expected, tolerance<double>(expected, double(n)));
    } else {
      ASSERT_EQ(std::isnan(norms.view()(j, 0)), std::isnan(size));
      ASSERT_FALSE(std::isfinite(norms.view()(j, 0)));
    }
  }
}

TYPED_TEST_P(BlockOps, WeightedSquares) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<T> X(n, b, b + 1, 1);
      RandomBlock<T> w(n, 1, 3, 2);
      RandomSmall sums(b, 1, 3);
      weighted_squares<T>(this->on(), w.view(), X.view(), sums.view());
      for (Index j = 0; j < b; ++j) {
        long double sum = 0;
        for (Index i = 0; i < n; ++i) {
          sum += static_cast<long double>(w.view()(i, 0)) *
                 std::pow(static_cast<long double>(X.view()(i, j)), 2);
        }
        ASSERT_NEAR(sums.view()(j, 0), static_cast<double>(sum),
                    tolerance<double>(static_cast<double>(n), static_cast<double>(n)));
      }
    }
  }
}

TYPED_TEST_P(BlockOps, Reciprocals) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(300, 3, 4, 1);
  RandomBlock<T> Y(300, 3, 5, 2);
  X.view()(7, 1) = 0;
  reciprocals<T>(this->on(), X.view(), Y.view());
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 3; ++j) ASSERT_EQ(Y.view()(i, j), 1 / X.view()(i, j));
  }
}

TYPED_TEST_P(BlockOps, ColumnDots) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<T> X(n, b, b + 1, 1);
      RandomBlock<T> Y(n, b, b + 2, 2);
      RandomSmall dots(b, 1, 3);
      column_dots<T>(this->on(), X.view(), Y.view(), dots.view());
      for (Index j = 0; j < b; ++j) {
        long double sum = 0;
        for (Index i = 0; i < n; ++i) {
          sum +=
              static_cast<long double>(X.view()(i, j)) * static_cast<long double>(Y.view()(i, j));
        }
        EXPECT_NEAR(dots.view()(j, 0), static_cast<double>(sum),
                    tolerance<double>(1, static_cast<double>(n)))
            << n << "x" << b << ", column " << j;
      }
    }
  }
}

TYPED_TEST_P(BlockOps, ScaleColumns) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(1500, 9, 11, 1);
  RandomBlock<T> X0(1500, 9, 11, 1);
  RandomSmall factors(9, 1, 2);
  scale_columns<T>(this->on(), factors.view(), X.view());
  for (Index i = 0; i < 1500; ++i) {
    for (Index j = 0; j < 9; ++j) {
      ASSERT_EQ(X.view()(i, j),
                static_cast<T>(static_cast<double>(X0.view()(i, j)) * factors.view()(j, 0)));
    }
  }
}

TYPED_TEST_P(BlockOps, ResidualAndItsNormsAlsoOverItsInput) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<T> AX(n, b, b + 1, 1);
      RandomBlock<T> BX(n, b, b, 2);
      RandomBlock<T> R(n, b, b + 2, 3);
      RandomSmall theta(b, 1, 4);
      RandomSmall norms(b, 1, 5);
      RandomSmall norms_in_place(b, 1, 6);
      residual<T>(this->on(), AX.view(), BX.view(), theta.view(), R.view(), norms.view());
      for (Index j = 0; j < b; ++j) {
        long double sum = 0;
        for (Index i = 0; i < n; ++i) {
          const long double r =
              AX.view()(i, j) - static_cast<long double>(BX.view()(i, j)) * theta.view()(j, 0);
          ASSERT_NEAR(R.view()(i, j), static_cast<double>(r), tolerance<T>(2, 1));
          sum += static_cast<long double>(R.view()(i, j)) * R.view()(i, j);
        }
        const double expected = static_cast<double>(std::sqrt(sum));
        ASSERT_NEAR(norms.view()(j, 0), expected,
                    tolerance<double>(expected, static_cast<double>(n)));
      }
      residual<T>(this->on(), AX.view(), BX.view(), theta.view(), AX.view(), norms_in_place.view());
      EXPECT_EQ(norms.data(), norms_in_place.data());
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < b; ++j) ASSERT_EQ(AX.view()(i, j), R.view()(i, j));
      }
    }
  }
}

TYPED_TEST_P(BlockOps, SetZeroAndCopyLeaveThePaddingAlone) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(700, 5, 8, 1);
  RandomBlock<T> Y(700, 5, 6, 2);
  copy<T>(this->on(), X.view(), Y.view());
  set_zero<T>(this->on(), X.view().columns(1, 3));
  for (Index i = 0; i < 700; ++i) {
    for (Index j = 0; j < 5; ++j) {
      ASSERT_EQ(X.view()(i, j), j >= 1 && j < 4 ? T{0} : Y.view()(i, j));
      ASSERT_NE(Y.view()(i, j), T{0});
    }
    ASSERT_TRUE(std::isnan(Y.view().data()[6 * i + 5]));
  }
}

TYPED_TEST_P(BlockOps, RandomEntriesDependOnSeedStreamAndPlaceOnly) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> wide(2000, 9, 12, 1);
  RandomBlock<T> narrow(600, 4, 4, 2);
  RandomBlock<T> other(600, 4, 4, 3);
  fill_random<T>(this->on(), 42, 7, wide.view());
  fill_random<T>(this->on(), 42, 7, narrow.view());
  fill_random<T>(this->on(), 42, 8, other.view());
  double sum = 0;
  double squares = 0;
  for (Index i = 0; i < 2000; ++i) {
    for (Index j = 0; j < 9; ++j) {
      const double x = wide.view()(i, j);
      ASSERT_LE(std::abs(x), 1);
      sum += x;
      squares += x * x;
      if (i < 600 && j < 4) {
        ASSERT_EQ(wide.view()(i, j), narrow.view()(i, j));
        ASSERT_NE(wide.view()(i, j), other.view()(i, j));
      }
    }
  }
  // Mean 0 and variance 1/3; five standard deviations of the sample mean and of the mean square.
  const double count = 2000 * 9;
  EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1 / (3 * count)));
  EXPECT_NEAR(squares / count, 1.0 / 3, 5 * std::sqrt(4 / (45 * count)));
}

TYPED_TEST_P(BlockOps, RandomRowsAreNumberedFromTheFirstRowGiven) {
  using T = typename TypeParam::Scalar;
  const Index n = 1301;
  const Index above = 517;  // rows of the upper part
  RandomBlock<T> whole(n, 5, 6, 1);
  RandomBlock<T> upper(above, 5, 5, 2);
  RandomBlock<T> lower(n - above, 5, 7, 3);
  fill_random<T>(this->on(), 42, 7, whole.view());
  fill_random<T>(this->on(), 42, 7, upper.view(), 0);
  fill_random<T>(this->on(), 42, 7, lower.view(), above);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 5; ++j) {
      const T part = i < above ? upper.view()(i, j) : lower.view()(i - above, j);
      ASSERT_EQ(part, whole.view()(i, j)) << i << ", " << j;
    }
  }
  // Row numbers beyond 32 bits: two blocks that share all rows but one.
  const Index far = Index{1} << 33;
  RandomBlock<T> here(40, 5, 5, 4);
  RandomBlock<T> next(40, 5, 5, 5);
  fill_random<T>(this->on(), 42, 7, here.view(), far);
  fill_random<T>(this->on(), 42, 7, next.view(), far + 1);
  for (Index i = 1; i < 40; ++i) {
    for (Index j = 0; j < 5; ++j) ASSERT_EQ(here.view()(i, j), next.view()(i - 1, j));
  }
  EXPECT_NE(here.view()(0, 0), whole.view()(0, 0));
}

TYPED_TEST_P(BlockOps, IdentityOfRowsNumberedFromTheFirstRowGiven) {
  using T = typename TypeParam::Scalar;
  for (const Index first : {0, 1, 6, 8, 9, 700}) {
    RandomBlock<T> X(300, 9, 11, 1);
    set_identity<T>(this->on(), X.view(), first);
    for (Index i = 0; i < 300; ++i) {
      for (Index j = 0; j < 9; ++j) {
        ASSERT_EQ(X.view()(i, j), first + i == j ? T{1} : T{0}) << first << ": " << i << ", " << j;
      }
      ASSERT_TRUE(std::isnan(X.data()[static_cast<std::size_t>(i * 11 + 9)]));
    }
  }
}

TYPED_TEST_P(BlockOps, ShapesThatDoNotFitAreNamed) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(10, 4, 4, 1);
  RandomBlock<T> Y(11, 4, 4, 1);
  RandomSmall G(4, 3, 1);
  RandomSmall column(3, 1, 1);
  auto&& context = this->on();
  try {
    gram<T>(context, X.view(), Y.view(), G.view());
    FAIL() << "gram took blocks of 10 and 11 rows";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("10x4"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("11x4"), std::string::npos) << error.what();
  }
  EXPECT_THROW(gram<T>(context, X.view(), X.view(), G.view()), InvalidArgument);
  EXPECT_THROW(multiply<T>(context, 1, X.view(), G.view(), 0, X.view()), InvalidArgument);
  EXPECT_THROW(multiply<T>(context, 1, X.view(), G.view(), 0, Y.view().columns(0, 3)),
               InvalidArgument);
  EXPECT_THROW(copy<T>(context, X.view(), Y.view()), InvalidArgument);
  EXPECT_THROW(column_norms<T>(context, X.view(), column.view()), InvalidArgument);
  EXPECT_THROW(column_dots<T>(context, X.view(), X.view(), column.view()), InvalidArgument);
  EXPECT_THROW(weighted_squares<T>(context, X.view(), X.view(), column.view()), InvalidArgument);
  EXPECT_THROW(reciprocals<T>(context, X.view(), Y.view()), InvalidArgument);
  EXPECT_THROW(column_dots<T>(context, X.view(), Y.view(), column.view()), InvalidArgument);
  EXPECT_THROW(scale_columns<T>(context, column.view(), X.view()), InvalidArgument);
  EXPECT_THROW(residual<T>(context, X.view(), X.view(), column.view(), X.view(), column.view()),
               InvalidArgument);
  EXPECT_THROW(residual<T>(context, X.view(), Y.view(), column.view(), X.view(), column.view()),
               InvalidArgument);
}

REGISTER_TYPED_TEST_SUITE_P(BlockOps, Multiply, MultiplyAddsAnotherBlock,
                            MultiplyWithTheNormsOfTheResult, MultiplyOverItsOwnInput,
                            MultiplyAndCopyOverItsOwnInput, MultiplyOverwritesNanWhereBetaIsZero,
                            MultiplyByNoColumnsScalesTheResult, WeightedSquares, Reciprocals,
                            ColumnNorms, ColumnDots, ColumnNormsAtTheEndsOfTheRange, ScaleColumns,
                            ResidualAndItsNormsAlsoOverItsInput, SetZeroAndCopyLeaveThePaddingAlone,
                            RandomEntriesDependOnSeedStreamAndPlaceOnly,
                            RandomRowsAreNumberedFromTheFirstRowGiven,
                            IdentityOfRowsNumberedFromTheFirstRowGiven, ShapesThatDoNotFitAreNamed);

}  // namespace
}  // namespace heddle
