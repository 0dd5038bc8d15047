#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/multivector.hpp>
#include <limits>
#include <vector>

#include "support/allocations.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::RandomBlock;
using test::RandomSmall;
using test::tolerance;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<Index> kRows = {0, 1, 2, 7, 1000, 4099};
const std::vector<Index> kCols = {1, 3, 4, 8, 16, 17, 31, 33, 64, 100};

/// Pairs of widths: each with itself and with one narrower or wider.
std::vector<std::pair<Index, Index>> width_pairs() {
  std::vector<std::pair<Index, Index>> pairs;
  for (std::size_t k = 0; k < kCols.size(); ++k) {
    pairs.emplace_back(kCols[k], kCols[k]);
    pairs.emplace_back(kCols[k], kCols[(3 * k + 2) % kCols.size()]);
  }
  return pairs;
}

template <class T>
class BlockOps : public ::testing::Test {
 protected:
  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BlockOps, Scalars);

/// G against Σ_i x_i y_i in long double, entry by entry relative to Σ_i |x_i y_i|.
template <class T>
void expect_gram(ConstBlockView<T, HostSpace> X, ConstBlockView<T, HostSpace> Y,
                 ConstSmallView<HostSpace> G) {
  for (Index i = 0; i < X.cols(); ++i) {
    for (Index j = 0; j < Y.cols(); ++j) {
      long double sum = 0;
      long double size = 0;
      for (Index r = 0; r < X.rows(); ++r) {
        const long double product = static_cast<long double>(X(r, i)) * Y(r, j);
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(G(i, j), static_cast<double>(sum),
                  tolerance<double>(static_cast<double>(size), static_cast<double>(X.rows())))
          << "entry " << i << ", " << j << " of " << X.cols() << "x" << Y.cols() << ", n "
          << X.rows();
    }
  }
}

TYPED_TEST(BlockOps, GramOfTwoBlocks) {
  for (const Index n : kRows) {
    for (const auto& [a, b] : width_pairs()) {
      RandomBlock<TypeParam> X(n, a, a + 3, 1);
      RandomBlock<TypeParam> Y(n, b, b + 2, 2);
      RandomSmall G(a, b, 3);
      gram<TypeParam>(this->context_, X.view(), Y.view(), G.view());
      expect_gram<TypeParam>(X.view(), Y.view(), G.view());
    }
  }
}

TYPED_TEST(BlockOps, GramOfOneBlockIsSymmetricToTheBit) {
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<TypeParam> X(n, b, b + 1, 1);
      RandomSmall G(b, b, 3);
      gram<TypeParam>(this->context_, X.view(), X.view(), G.view());
      expect_gram<TypeParam>(X.view(), X.view(), G.view());
      for (Index i = 0; i < b; ++i) {
        for (Index j = 0; j < i; ++j) ASSERT_EQ(G.view()(i, j), G.view()(j, i));
      }
    }
  }
}

TYPED_TEST(BlockOps, GramWritesIntoABlockOfALargerMatrix) {
  RandomBlock<TypeParam> X(50, 5, 5, 1);
  RandomSmall large(9, 9, 3);
  const std::vector<double> before = large.data();
  const auto G = large.view().block(2, 3, 5, 5);
  gram<TypeParam>(this->context_, X.view(), X.view(), G);
  expect_gram<TypeParam>(X.view(), X.view(), G);
  for (Index j = 0; j < 9; ++j) {
    for (Index i = 0; i < 9; ++i) {
      const bool inside = i >= 2 && i < 7 && j >= 3 && j < 8;
      if (!inside) {
        ASSERT_EQ(large.view()(i, j), before[static_cast<std::size_t>(i + 9 * j)]);
      }
    }
  }
}

TYPED_TEST(BlockOps, GramPassesNanOnToItsRowAndColumnOnly) {
  RandomBlock<TypeParam> X(100, 20, 20, 1);
  X.view()(57, 11) = std::numeric_limits<TypeParam>::quiet_NaN();
  RandomSmall G(20, 20, 3);
  gram<TypeParam>(this->context_, X.view(), X.view(), G.view());
  for (Index j = 0; j < 20; ++j) {
    for (Index i = 0; i < 20; ++i) {
      ASSERT_EQ(std::isnan(G.view()(i, j)), i == 11 || j == 11);
    }
  }
}

/// Y against α X C + β Y₀ in long double, row by row.
template <class T>
void expect_product(double alpha, ConstBlockView<T, HostSpace> X, ConstSmallView<HostSpace> C,
                    double beta, ConstBlockView<T, HostSpace> Y0, ConstBlockView<T, HostSpace> Y) {
  for (Index i = 0; i < Y.rows(); ++i) {
    for (Index j = 0; j < Y.cols(); ++j) {
      long double sum = beta == 0 ? 0.0L : static_cast<long double>(beta) * Y0(i, j);
      long double size = std::abs(sum);
      for (Index k = 0; k < X.cols(); ++k) {
        const long double term = static_cast<long double>(alpha) * X(i, k) * C(k, j);
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(static_cast<double>(Y(i, j)), static_cast<double>(sum),
                  tolerance<T>(static_cast<double>(size), static_cast<double>(X.cols())))
          << "entry " << i << ", " << j << " of " << Y.rows() << "x" << Y.cols() << " from "
          << X.cols() << " columns";
    }
  }
}

TYPED_TEST(BlockOps, Multiply) {
  for (const Index n : kRows) {
    for (const auto& [a, b] : width_pairs()) {
      RandomBlock<TypeParam> X(n, a, a + 3, 1);
      RandomSmall C(a, b, 2);
      RandomBlock<TypeParam> Y(n, b, b + 2, 3);
      RandomBlock<TypeParam> Y0(n, b, b + 2, 3);
      multiply<TypeParam>(this->context_, -0.75, X.view(), C.view(), 0.5, Y.view());
      expect_product<TypeParam>(-0.75, X.view(), C.view(), 0.5, Y0.view(), Y.view());
      for (Index i = 0; i < n; ++i) ASSERT_TRUE(std::isnan(Y.view().data()[i * (b + 2) + b]));
    }
  }
}

TYPED_TEST(BlockOps, MultiplyOverItsOwnInput) {
  for (const auto& [a, b] : std::vector<std::pair<Index, Index>>{{72, 24}, {60, 48}, {33, 33}}) {
    for (const Index shift : {Index{0}, (a - b) / 2}) {
      RandomBlock<TypeParam> S(1003, a, a, 1);
      RandomBlock<TypeParam> S0(1003, a, a, 1);
      RandomSmall C(a, b, 2);
      const auto Y = S.view().columns(shift, b);
      multiply<TypeParam>(this->context_, 1, S.view(), C.view(), 2, Y);
      expect_product<TypeParam>(1, S0.view(), C.view(), 2, S0.view().columns(shift, b), Y);
    }
  }
}

TYPED_TEST(BlockOps, MultiplyOverwritesNanWhereBetaIsZero) {
  RandomBlock<TypeParam> X(300, 7, 7, 1);
  RandomSmall C(7, 5, 2);
  RandomBlock<TypeParam> Y(300, 5, 6, 3);
  std::fill(Y.data().begin(), Y.data().end(), std::numeric_limits<TypeParam>::quiet_NaN());
  multiply<TypeParam>(this->context_, 1, X.view(), C.view(), 0, Y.view());
  expect_product<TypeParam>(1, X.view(), C.view(), 0, Y.view(), Y.view());
}

TYPED_TEST(BlockOps, MultiplyByNoColumnsScalesTheResult) {
  RandomBlock<TypeParam> X(30, 0, 1, 1);
  RandomSmall C(0, 5, 2);
  RandomBlock<TypeParam> Y(30, 5, 5, 3);
  RandomBlock<TypeParam> Y0(30, 5, 5, 3);
  multiply<TypeParam>(this->context_, 1, X.view(), C.view(), 0.5, Y.view());
  expect_product<TypeParam>(1, X.view(), C.view(), 0.5, Y0.view(), Y.view());
}

TYPED_TEST(BlockOps, ColumnNorms) {
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<TypeParam> X(n, b, b + 1, 1);
      RandomSmall norms(b, 1, 2);
      column_norms<TypeParam>(this->context_, X.view(), norms.view());
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

TYPED_TEST(BlockOps, ColumnNormsAtTheEndsOfTheRange) {
  using T = TypeParam;
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
  column_norms<T>(this->context_, X.view(), norms.view());
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

TYPED_TEST(BlockOps, ScaleColumns) {
  RandomBlock<TypeParam> X(1500, 9, 11, 1);
  RandomBlock<TypeParam> X0(1500, 9, 11, 1);
  RandomSmall factors(9, 1, 2);
  scale_columns<TypeParam>(this->context_, factors.view(), X.view());
  for (Index i = 0; i < 1500; ++i) {
    for (Index j = 0; j < 9; ++j) {
      ASSERT_EQ(X.view()(i, j), static_cast<TypeParam>(static_cast<double>(X0.view()(i, j)) *
                                                       factors.view()(j, 0)));
    }
  }
}

TYPED_TEST(BlockOps, ResidualAndItsNormsAlsoOverItsInput) {
  using T = TypeParam;
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<T> AX(n, b, b + 1, 1);
      RandomBlock<T> BX(n, b, b, 2);
      RandomBlock<T> R(n, b, b + 2, 3);
      RandomSmall theta(b, 1, 4);
      RandomSmall norms(b, 1, 5);
      RandomSmall norms_in_place(b, 1, 6);
      residual<T>(this->context_, AX.view(), BX.view(), theta.view(), R.view(), norms.view());
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
      residual<T>(this->context_, AX.view(), BX.view(), theta.view(), AX.view(),
                  norms_in_place.view());
      EXPECT_EQ(norms.data(), norms_in_place.data());
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < b; ++j) ASSERT_EQ(AX.view()(i, j), R.view()(i, j));
      }
    }
  }
}

TYPED_TEST(BlockOps, SetZeroAndCopyLeaveThePaddingAlone) {
  RandomBlock<TypeParam> X(700, 5, 8, 1);
  RandomBlock<TypeParam> Y(700, 5, 6, 2);
  copy<TypeParam>(this->context_, X.view(), Y.view());
  set_zero<TypeParam>(this->context_, X.view().columns(1, 3));
  for (Index i = 0; i < 700; ++i) {
    for (Index j = 0; j < 5; ++j) {
      ASSERT_EQ(X.view()(i, j), j >= 1 && j < 4 ? TypeParam{0} : Y.view()(i, j));
      ASSERT_NE(Y.view()(i, j), TypeParam{0});
    }
    ASSERT_TRUE(std::isnan(Y.view().data()[6 * i + 5]));
  }
}

TYPED_TEST(BlockOps, RandomEntriesDependOnSeedStreamAndPlaceOnly) {
  RandomBlock<TypeParam> wide(2000, 9, 12, 1);
  RandomBlock<TypeParam> narrow(600, 4, 4, 2);
  RandomBlock<TypeParam> other(600, 4, 4, 3);
  fill_random<TypeParam>(this->context_, 42, 7, wide.view());
  fill_random<TypeParam>(this->context_, 42, 7, narrow.view());
  fill_random<TypeParam>(this->context_, 42, 8, other.view());
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

/// All bytes that the operations give on `threads` threads.
template <class T>
std::vector<double> results(int threads) {
  HostContext context(threads);
  const Index n = 4099;
  RandomBlock<T> X(n, 19, 20, 1);
  RandomBlock<T> Y(n, 6, 6, 2);
  RandomSmall G(19, 19, 3);
  RandomSmall H(19, 6, 3);
  RandomSmall norms(6, 1, 4);
  gram<T>(context, X.view(), X.view(), G.view());
  gram<T>(context, X.view(), Y.view(), H.view());
  multiply<T>(context, 1, X.view(), H.view(), 1, Y.view());
  residual<T>(context, Y.view(), X.view().columns(0, 6), norms.view(), Y.view(), norms.view());
  scale_columns<T>(context, norms.view(), Y.view());
  fill_random<T>(context, 1, 2, X.view());
  std::vector<double> all(Y.data().begin(), Y.data().end());
  for (const auto& part : {G.data(), H.data(), norms.data()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  for (Index i = 0; i < n; ++i) all.push_back(static_cast<double>(X.view()(i, 18)));
  return all;
}

TYPED_TEST(BlockOps, SameBitsForEveryNumberOfThreads) {
  const std::vector<double> one = results<TypeParam>(1);
  EXPECT_EQ(one, results<TypeParam>(2));
  EXPECT_EQ(one, results<TypeParam>(3));
}

TYPED_TEST(BlockOps, NothingIsAllocatedAfterTheFirstCallAtASize) {
  using T = TypeParam;
  RandomBlock<T> X(5000, 72, 72, 1);
  RandomBlock<T> Y(5000, 24, 24, 2);
  RandomSmall G(72, 72, 3);
  RandomSmall C(72, 24, 3);
  RandomSmall norms(24, 1, 4);
  const auto run = [&] {
    gram<T>(this->context_, X.view(), X.view(), G.view());
    gram<T>(this->context_, X.view(), Y.view(), C.view());
    multiply<T>(this->context_, 1, X.view(), C.view(), 0, Y.view());
    column_norms<T>(this->context_, Y.view(), norms.view());
    residual<T>(this->context_, Y.view(), Y.view(), norms.view(), Y.view(), norms.view());
    scale_columns<T>(this->context_, norms.view(), Y.view());
    copy<T>(this->context_, Y.view(), X.view().columns(0, 24));
    set_zero<T>(this->context_, Y.view());
    fill_random<T>(this->context_, 1, 1, Y.view());
  };
  run();
  const std::size_t context_before = this->context_.allocation_count().allocations;
  const std::size_t heap_before = test::heap_allocations();
  run();
  EXPECT_EQ(test::heap_allocations(), heap_before);
  EXPECT_EQ(this->context_.allocation_count().allocations, context_before);
}

TYPED_TEST(BlockOps, CountTheirTrafficAndArithmetic) {
  using T = TypeParam;
  RandomBlock<T> X(1000, 6, 6, 1);
  RandomBlock<T> Y(1000, 4, 4, 1);
  RandomSmall G(6, 4, 3);
  const auto counted = [&](const auto& operation) {
    this->context_.profile().reset();
    operation();
    return this->context_.profile()[Phase::other];
  };
  const PhaseTotals two = counted([&] { gram<T>(this->context_, X.view(), Y.view(), G.view()); });
  EXPECT_EQ(two.bytes, 1000.0 * (6 + 4) * sizeof(T));
  EXPECT_EQ(two.flops, 2.0 * 1000 * 6 * 4);
  const PhaseTotals update =
      counted([&] { multiply<T>(this->context_, 1, X.view(), G.view(), 1, Y.view()); });
  EXPECT_EQ(update.bytes, 1000.0 * (6 + 2 * 4) * sizeof(T));
  EXPECT_EQ(update.flops, 2.0 * 1000 * 6 * 4);
}

TYPED_TEST(BlockOps, ShapesThatDoNotFitAreNamed) {
  using T = TypeParam;
  RandomBlock<T> X(10, 4, 4, 1);
  RandomBlock<T> Y(11, 4, 4, 1);
  RandomSmall G(4, 3, 1);
  RandomSmall column(3, 1, 1);
  HostContext& context = this->context_;
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
  EXPECT_THROW(scale_columns<T>(context, column.view(), X.view()), InvalidArgument);
  EXPECT_THROW(residual<T>(context, X.view(), X.view(), column.view(), X.view(), column.view()),
               InvalidArgument);
  EXPECT_THROW(residual<T>(context, X.view(), Y.view(), column.view(), X.view(), column.view()),
               InvalidArgument);
}

}  // namespace
}  // namespace heddle
