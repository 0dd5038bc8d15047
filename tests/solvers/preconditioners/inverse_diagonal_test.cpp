#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <limits>
#include <vector>

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

template <class T>
class InverseDiagonal : public testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;

  /// A matrix with that diagonal, NaN where nothing is stored, and ones beside it.
  HostCsrMatrix<T> matrix(const std::vector<T>& diagonal) {
    const Index n = std::ssize(diagonal);
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < n; ++i) {
      const T d = diagonal[static_cast<std::size_t>(i)];
      if (!std::isnan(d)) entries.push_back({i, i, d});
      if (i > 0) entries.push_back({i, i - 1, T{1}});
    }
    return csr_from_triplets<T>(context_, n, n, entries);
  }

  void expect(const std::vector<T>& diagonal, const std::vector<T>& expected) {
    const auto A = matrix(diagonal);
    const auto inverse = inverse_diagonal<T>(context_, A.view());
    const auto root = inverse_root_diagonal<T>(context_, A.view());
    ASSERT_EQ(inverse.size(), expected.size());
    ASSERT_EQ(root.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(inverse[i], expected[i]) << i;
      EXPECT_EQ(root[i], static_cast<T>(std::sqrt(static_cast<double>(expected[i])))) << i;
    }
  }

  HostContext context_{2};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(InverseDiagonal, Scalars);

TYPED_TEST(InverseDiagonal, IsOneOverTheSize) {
  this->expect({4, -0.25, 1, -16}, {0.25, 4, 1, 0.0625});
}

TYPED_TEST(InverseDiagonal, UnusableEntriesCountAsTheMeanOfTheOthers) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam unusable : {TypeParam{0}, Limits::denorm_min(), Limits::infinity(),
                                   -Limits::infinity(), Limits::quiet_NaN()}) {
    this->expect({2, unusable, -6, unusable, 4}, {0.5, 0.25, TypeParam{1} / 6, 0.25, 0.25});
  }
}

TYPED_TEST(InverseDiagonal, WithoutUsableEntriesIsOne) {
  this->expect({0, 0, std::numeric_limits<TypeParam>::quiet_NaN()}, {1, 1, 1});
  this->expect({}, {});
}

TYPED_TEST(InverseDiagonal, TheMeanOfTheLargestNumbersDoesNotOverflow) {
  const TypeParam large =
      std::ldexp(TypeParam{1}, std::numeric_limits<TypeParam>::max_exponent - 2);
  this->expect({large, large, 0}, {1 / large, 1 / large, 1 / large});
}

TYPED_TEST(InverseDiagonal, MustBeOfASquareMatrix) {
  const auto wide =
      csr_from_triplets<TypeParam>(this->context_, 2, 3, std::vector<Triplet<TypeParam>>{});
  EXPECT_THROW(inverse_diagonal<TypeParam>(this->context_, wide.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
