#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>

#include "support/random_block.hpp"

namespace heddle {
namespace {

bool same_bits(const ConstBlockView<double, HostSpace>& X,
               const ConstBlockView<double, HostSpace>& Y) {
  const auto row = static_cast<std::size_t>(X.cols()) * sizeof(double);
  for (Index i = 0; i < X.rows(); ++i) {
    if (std::memcmp(&X(i, 0), &Y(i, 0), row) != 0) return false;
  }
  return true;
}

bool same_bits(const ConstSmallView<double, HostSpace>& A,
               const ConstSmallView<double, HostSpace>& B) {
  for (Index j = 0; j < A.cols; ++j) {
    for (Index i = 0; i < A.rows; ++i) {
      if (std::memcmp(&A(i, j), &B(i, j), sizeof(double)) != 0) return false;
    }
  }
  return true;
}

/// A scaled block and the same block in double precision.
struct Scaled {
  Scaled(Index n, Index b, bool with_rows)
      : kept(n, b, b + 3, 1), rows(n, 1, 2, 2), factors(b, 1, 3), whole(n, b, b + 1, 4) {
    Z = {kept.view(), {}, factors.view()};
    if (with_rows) Z.rows = rows.view();
    for (Index i = 0; i < n; ++i) {
      const double row = with_rows ? static_cast<double>(rows.view()(i, 0)) : 1;
      for (Index j = 0; j < b; ++j) {
        whole.view()(i, j) = static_cast<double>(kept.view()(i, j)) * factors.view()(j, 0) * row;
      }
    }
  }

  test::RandomBlock<float> kept, rows;
  test::RandomSmall factors;
  test::RandomBlock<double> whole;
  ScaledView<float, HostSpace> Z;
};

class ScaledBlock : public ::testing::TestWithParam<bool> {};

TEST_P(ScaledBlock, HasTheBitsOfTheBlockThatItIs) {
  for (const Index n : {3, 700, 1501}) {
    for (const Index b : {2, 3, 5, 8, 16, 21}) {
      for (const Index a : {1, 4, 16, 19}) {
        SCOPED_TRACE(::testing::Message() << n << " rows, " << a << " and " << b << " columns");
        HostContext context(a % 2 == 0 ? 2 : 3);
        Scaled scaled(n, b, GetParam());
        const ConstBlockView<double, HostSpace> whole = scaled.whole.view();
        test::RandomBlock<double> X(n, a, a + 2, 5), Y(n, b, b, 6);
        test::RandomBlock<double> copied(n, b, b + 5, 7);
        copy(context, scaled.Z, copied.view());
        EXPECT_TRUE(same_bits(copied.view(), whole));

        test::RandomSmall G(a, b, 8), expected(a, b, 9);
        gram(context, X.view(), scaled.Z, G.view());
        gram<double>(context, X.view(), whole, expected.view());
        EXPECT_TRUE(same_bits(G.view(), expected.view()));

        test::RandomSmall dots(b, 1, 10), expected_dots(b, 1, 11);
        column_dots(context, Y.view(), scaled.Z, dots.view());
        column_dots<double>(context, Y.view(), whole, expected_dots.view());
        EXPECT_TRUE(same_bits(dots.view(), expected_dots.view()));
      }
    }
  }
}

/// As block CG updates its directions: where they lie.
TEST_P(ScaledBlock, IsAddedToAProductInPlace) {
  for (const Index n : {3, 700, 1501}) {
    for (const Index b : {2, 3, 5, 8, 16, 21}) {
      for (const Index a : {Index{1}, b, b + 3}) {
        SCOPED_TRACE(::testing::Message() << n << " rows, " << a << " and " << b << " columns");
        HostContext context(a % 2 == 0 ? 2 : 3);
        Scaled scaled(n, b, GetParam());
        const Index width = std::max(a, b);
        test::RandomBlock<double> P(n, width, width, 5), same(n, width, width, 5);
        test::RandomSmall C(a, b, 6);
        test::RandomSmall G(b, b, 7), expected(b, b, 8);
        const auto part = [](test::RandomBlock<double>& block, Index columns) {
          return block.view().columns(0, columns);
        };
        multiply_gram(context, -1, part(P, a), C.view(), 1, scaled.Z, part(P, b), part(P, b),
                      G.view());
        multiply_gram<double>(context, -1, part(same, a), C.view(), 1, scaled.whole.view(),
                              part(same, b), part(same, b), expected.view());
        EXPECT_TRUE(same_bits(P.view(), same.view()));
        EXPECT_TRUE(same_bits(G.view(), expected.view()));
      }
    }
  }
}

TEST_P(ScaledBlock, ShapesThatDoNotFitAreNamed) {
  HostContext context(1);
  Scaled scaled(5, 3, GetParam());
  test::RandomBlock<double> X(5, 2, 2, 1), Y(4, 3, 3, 2);
  test::RandomSmall G(2, 2, 3), dots(3, 1, 4);
  EXPECT_THROW(gram(context, X.view(), scaled.Z, G.view()), InvalidArgument);
  EXPECT_THROW(column_dots(context, Y.view(), scaled.Z, dots.view()), InvalidArgument);
  EXPECT_THROW(copy(context, scaled.Z, Y.view()), InvalidArgument);
  EXPECT_THROW(
      multiply_gram(context, 1, X.view(), G.view(), 1, scaled.Z, X.view(), X.view(), G.view()),
      InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithRows, ScaledBlock, ::testing::Bool());

}  // namespace
}  // namespace heddle
