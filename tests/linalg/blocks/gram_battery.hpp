#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/blocks/block_ops_truth.hpp"
#include "linalg/blocks/widths.hpp"
#include "support/random_block.hpp"

/// The tests that `gram` passes on every backend; `Backend` as in the battery of the other
/// operations.
namespace heddle {
namespace {

using test::expect_gram;
using test::expect_product;
using test::kCols;
using test::kRows;
using test::RandomBlock;
using test::RandomSmall;
using test::width_pairs;

template <class Backend>
class Gram : public Backend::Fixture {};

TYPED_TEST_SUITE_P(Gram);

TYPED_TEST_P(Gram, OfTwoBlocks) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const auto& [a, b] : width_pairs()) {
      RandomBlock<T> X(n, a, a + 3, 1);
      RandomBlock<T> Y(n, b, b + 2, 2);
      RandomSmall G(a, b, 3);
      gram<T>(this->on(), X.view(), Y.view(), G.view());
      expect_gram<T>(X.view(), Y.view(), G.view());
    }
  }
}

TYPED_TEST_P(Gram, WithTwoBlocksInOnePass) {
  using T = typename TypeParam::Scalar;
  const std::vector<std::pair<Index, Index>> widths = {{1, 1},   {3, 8}, {16, 16}, {17, 2},
                                                       {20, 20}, {0, 5}, {5, 0},   {33, 30}};
  for (const Index n : {0, 1, 1000}) {
    for (const Index a : {1, 12, 48, 61}) {
      for (const auto& [b, c] : widths) {
        const Index ld = b + c + 2;  // of both, or of one
        RandomBlock<T> X(n, a, a, 1);
        RandomBlock<T> Y(n, b, ld, 2);
        RandomBlock<T> Z(n, c, ld + (a == 12 ? 1 : 0), 3);
        RandomSmall G(a, b, 3);
        RandomSmall H(a, c, 4);
        gram<T>(this->on(), X.view(), Y.view(), G.view(), Z.view(), H.view());
        expect_gram<T>(X.view(), Y.view(), G.view());
        expect_gram<T>(X.view(), Z.view(), H.view());
      }
    }
  }
}

/// Y = α X C + β W over W, and the Gram matrix of [V Y] and Y, where V lies directly before Y.
TYPED_TEST_P(Gram, AfterAProductInOnePass) {
  using T = typename TypeParam::Scalar;
  for (const Index n : {1, 511, 1003, 2600}) {
    for (const auto& [a, b] : {std::pair<Index, Index>{1, 1}, {8, 4}, {4, 2}, {9, 3}, {24, 8}}) {
      for (const Index c : {0, 3, 30}) {
        RandomBlock<T> X(n, a, a, 1);
        RandomSmall C(a, b, 2);
        RandomBlock<T> W(n, b, b, 3);
        RandomBlock<T> V(n, c + b, c + b + 1, 4);
        const auto Y = V.view().columns(c, b);
        RandomSmall G(c + b, b, 5);
        multiply_gram<T>(this->on(), -0.75, X.view(), C.view(), 0.5, W.view(), Y, V.view(),
                         G.view());
        expect_product<T>(-0.75, X.view(), C.view(), 0.5, W.view(), Y);
        expect_gram<T>(V.view(), Y, G.view());
        RandomBlock<T> W0(n, b, b, 3);
        RandomSmall H(b, b, 6);
        multiply_gram<T>(this->on(), 1, X.view(), C.view(), 1, W.view(), W.view(), W.view(),
                         H.view());
        expect_product<T>(1, X.view(), C.view(), 1, W0.view(), W.view());
        expect_gram<T>(W.view(), W.view(), H.view());
        RandomSmall alone(b, b, 7);
        gram<T>(this->on(), W.view(), W.view(), alone.view());
        for (Index i = 0; i < b; ++i) {
          for (Index j = 0; j < b; ++j) ASSERT_EQ(H.view()(i, j), alone.view()(i, j));
        }
      }
    }
  }
}

TYPED_TEST_P(Gram, WithColumnsOfTheSameBlock) {
  using T = typename TypeParam::Scalar;
  for (const auto& [first, width] : {std::pair<Index, Index>{40, 20}, {0, 12}, {7, 5}}) {
    RandomBlock<T> X(777, 60, 60, 1);
    RandomBlock<T> Z(777, width, 60, 2);
    RandomSmall G(60, width, 3);
    RandomSmall H(60, width, 4);
    const auto Y = X.view().columns(first, width);
    gram<T>(this->on(), X.view(), Y, G.view(), Z.view(), H.view());
    expect_gram<T>(X.view(), Y, G.view());
    expect_gram<T>(X.view(), Z.view(), H.view());
    gram<T>(this->on(), X.view(), Y, H.view());
    expect_gram<T>(X.view(), Y, H.view());
  }
}

TYPED_TEST_P(Gram, OfOneBlockIsSymmetricToTheBit) {
  using T = typename TypeParam::Scalar;
  for (const Index n : kRows) {
    for (const Index b : kCols) {
      RandomBlock<T> X(n, b, b + 1, 1);
      RandomSmall G(b, b, 3);
      gram<T>(this->on(), X.view(), X.view(), G.view());
      expect_gram<T>(X.view(), X.view(), G.view());
      for (Index i = 0; i < b; ++i) {
        for (Index j = 0; j < i; ++j) ASSERT_EQ(G.view()(i, j), G.view()(j, i));
      }
    }
  }
}

TYPED_TEST_P(Gram, WritesIntoABlockOfALargerMatrix) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(50, 5, 5, 1);
  RandomSmall large(9, 9, 3);
  const std::vector<double> before = large.data();
  const auto G = large.view().block(2, 3, 5, 5);
  gram<T>(this->on(), X.view(), X.view(), G);
  expect_gram<T>(X.view(), X.view(), G);
  for (Index j = 0; j < 9; ++j) {
    for (Index i = 0; i < 9; ++i) {
      const bool inside = i >= 2 && i < 7 && j >= 3 && j < 8;
      if (!inside) {
        ASSERT_EQ(large.view()(i, j), before[static_cast<std::size_t>(i + 9 * j)]);
      }
    }
  }
}

TYPED_TEST_P(Gram, PassesNanOnToItsRowAndColumnOnly) {
  using T = typename TypeParam::Scalar;
  RandomBlock<T> X(100, 20, 20, 1);
  X.view()(57, 11) = std::numeric_limits<T>::quiet_NaN();
  RandomSmall G(20, 20, 3);
  gram<T>(this->on(), X.view(), X.view(), G.view());
  for (Index j = 0; j < 20; ++j) {
    for (Index i = 0; i < 20; ++i) {
      ASSERT_EQ(std::isnan(G.view()(i, j)), i == 11 || j == 11);
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(Gram, AfterAProductInOnePass, OfTwoBlocks, WithTwoBlocksInOnePass,
                            WithColumnsOfTheSameBlock, OfOneBlockIsSymmetricToTheBit,
                            WritesIntoABlockOfALargerMatrix, PassesNanOnToItsRowAndColumnOnly);

}  // namespace
}  // namespace heddle
