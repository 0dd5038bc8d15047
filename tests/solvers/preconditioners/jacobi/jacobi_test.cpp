#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <limits>
#include <vector>

#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::RandomBlock;

template <class T>
class Jacobi : public ::testing::Test {
 protected:
  /// Tridiagonal with the given diagonal, −1 beside it.
  HostCsrMatrix<T> matrix(const std::vector<T>& diagonal) {
    std::vector<Triplet<T>> entries;
    const Index n = std::ssize(diagonal);
    for (Index i = 0; i < n; ++i) {
      entries.push_back({i, i, diagonal[static_cast<std::size_t>(i)]});
      if (i > 0) entries.push_back({i, i - 1, T{-1}});
      if (i + 1 < n) entries.push_back({i, i + 1, T{-1}});
    }
    return csr_from_triplets<T>(context_, n, n, entries);
  }

  /// What the preconditioner of that matrix multiplies each row by.
  std::vector<T> factors(const std::vector<T>& diagonal) {
    const Index n = std::ssize(diagonal);
    const HostCsrMatrix<T> A = matrix(diagonal);
    JacobiPreconditioner<T, HostContext> M(context_, A.view());
    std::vector<T> ones(static_cast<std::size_t>(n), T{1});
    std::vector<T> result(ones.size());
    M.apply(context_, ConstBlockView<T, HostSpace>(ones.data(), n, 1, 1),
            BlockView<T, HostSpace>(result.data(), n, 1, 1));
    return result;
  }

  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Jacobi, Scalars);

TYPED_TEST(Jacobi, DividesEachRowByTheSizeOfItsDiagonalEntry) {
  using T = TypeParam;
  const Index n = 1301;
  std::vector<T> diagonal(n);
  for (Index i = 0; i < n; ++i) {
    diagonal[static_cast<std::size_t>(i)] = static_cast<T>(i % 2 == 0 ? i + 1 : -i - 1);
  }
  const HostCsrMatrix<T> A = this->matrix(diagonal);
  JacobiPreconditioner<T, HostContext> M(this->context_, A.view());
  for (const Index b : {1, 5, 16}) {
    RandomBlock<T> X(n, b, b + 1, 1);
    RandomBlock<T> Y(n, b, b, 2);
    M.apply(this->context_, X.view(), Y.view());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < b; ++j) {
        const double expected = static_cast<double>(X.view()(i, j)) / static_cast<double>(i + 1);
        ASSERT_NEAR(Y.view()(i, j), expected, test::tolerance<T>(std::abs(expected), 1));
      }
    }
  }
  EXPECT_EQ(M.columns_applied(), 1 + 5 + 16);
}

TYPED_TEST(Jacobi, UnusableEntriesCountAsTheMeanOfTheOthers) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const std::vector<T> result =
      this->factors({2, 0, -4, Limits::quiet_NaN(), 6, Limits::infinity(), Limits::denorm_min()});
  const std::vector<T> expected = {T{1} / 2, T{1} / 4, T{1} / 4, T{1} / 4,
                                   T{1} / 6, T{1} / 4, T{1} / 4};
  EXPECT_EQ(result, expected);
}

TYPED_TEST(Jacobi, StaysPositiveDefiniteAtTheEndsOfTheRange) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  EXPECT_EQ(this->factors({0, 0, 0}), (std::vector<T>{1, 1, 1}));
  for (const T factor : this->factors({Limits::max(), Limits::min(), Limits::max(), 0})) {
    EXPECT_GT(factor, 0);
    EXPECT_TRUE(std::isfinite(factor));
  }
}

TYPED_TEST(Jacobi, MissingDiagonalEntriesAreZero) {
  using T = TypeParam;
  const std::vector<Triplet<T>> entries = {{0, 0, T{2}}, {1, 0, T{7}}};
  const HostCsrMatrix<T> A = csr_from_triplets<T>(this->context_, 2, 2, entries);
  JacobiPreconditioner<T, HostContext> M(this->context_, A.view());
  RandomBlock<T> X(2, 3, 3, 1);
  RandomBlock<T> Y(2, 3, 3, 2);
  M.apply(this->context_, X.view(), Y.view());
  for (Index j = 0; j < 3; ++j) EXPECT_EQ(Y.view()(1, j), X.view()(1, j) / 2);
}

TYPED_TEST(Jacobi, ShapesThatDoNotFitThrow) {
  using T = TypeParam;
  const HostCsrMatrix<T> wide = csr_from_triplets<T>(this->context_, 2, 3, {});
  EXPECT_THROW((JacobiPreconditioner<T, HostContext>(this->context_, wide.view())),
               InvalidArgument);
  const HostCsrMatrix<T> A = this->matrix({1, 2, 3});
  JacobiPreconditioner<T, HostContext> M(this->context_, A.view());
  RandomBlock<T> X(4, 2, 2, 1);
  EXPECT_THROW(M.apply(this->context_, X.view(), X.view()), InvalidArgument);
}

TYPED_TEST(Jacobi, TimeAndTrafficGoToItsPhase) {
  using T = TypeParam;
  const HostCsrMatrix<T> A = this->matrix(std::vector<T>(1000, T{2}));
  JacobiPreconditioner<T, HostContext> M(this->context_, A.view());
  RandomBlock<T> X(1000, 4, 4, 1);
  RandomBlock<T> Y(1000, 4, 4, 2);
  this->context_.profile().reset();
  M.apply(this->context_, X.view(), Y.view());
  const PhaseTotals totals = this->context_.profile()[Phase::preconditioner];
  EXPECT_EQ(totals.bytes, (1000 + 2 * 1000 * 4) * sizeof(T));
  EXPECT_EQ(totals.flops, 4000);
}

}  // namespace
}  // namespace heddle
