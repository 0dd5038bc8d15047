#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/row_maxima.hpp>

#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

template <class T>
class RowMaxima : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(RowMaxima, Scalars);

TYPED_TEST(RowMaxima, AreRaisedToAPowerAndZeroForARowOfZeros) {
  using T = TypeParam;
  HostContext context(2);
  for (const Index n : {0, 1, 7, 1000}) {
    for (const Index b : {1, 6, 17}) {
      test::RandomBlock<T> X(n, b, b + 1, 1);
      if (n > 5) {
        for (Index j = 0; j < b; ++j) X.view()(5, j) = 0;
      }
      test::RandomBlock<T> y(n, 1, 3, 2);
      row_maxima<T>(context, X.view(), -0.5, y.view());
      for (Index i = 0; i < n; ++i) {
        double largest = 0;
        for (Index j = 0; j < b; ++j) {
          largest = std::max(largest, static_cast<double>(std::abs(X.view()(i, j))));
        }
        const double expected = largest > 0 ? 1 / std::sqrt(largest) : 0;
        ASSERT_NEAR(static_cast<double>(real_part(y.view()(i, 0))), expected,
                    test::tolerance<T>(expected, 4));
      }
    }
  }
}

TYPED_TEST(RowMaxima, ShapesThatDoNotFitAreRefused) {
  HostContext context(1);
  test::RandomBlock<TypeParam> X(4, 2, 2, 1);
  test::RandomBlock<TypeParam> y(5, 1, 1, 2);
  EXPECT_THROW(row_maxima<TypeParam>(context, X.view(), 1, y.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
