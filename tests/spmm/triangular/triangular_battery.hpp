#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/triangular.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

/// The tests that triangular solves pass on every backend. A `Backend` has a `Scalar`, a
/// `Fixture` whose `on()` is where operands in host memory can be worked on, and `plan` and
/// `solve`, which make a plan and apply it to such operands.
namespace heddle {
namespace {

using test::RandomBlock;
using test::TestMatrix;

/// The lower triangle with the entries left of the diagonal that `columns_of(i)` returns. Diagonals
/// are at least 1 and sums of sizes over the rest of a row are less than ½, so that ‖L⁻¹‖∞ ≤ 2.
template <class T, class ColumnsOf>
TestMatrix<T> lower_triangle(Index n, ColumnsOf&& columns_of) {
  TestMatrix<T> L = test::matrix_with_pattern<T>(n, n, [&](Index i) {
    std::set<Index> columns{i};
    for (const Index j : columns_of(i)) columns.insert(j);
    return columns;
  });
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const auto begin = static_cast<std::size_t>(L.offsets[i]);
    const auto diagonal = static_cast<std::size_t>(L.offsets[i + 1]) - 1;
    for (std::size_t e = begin; e < diagonal; ++e) {
      L.values[e] /= static_cast<RealOf<T>>(4 * (diagonal - begin));
    }
    L.values[diagonal] = 1 + std::abs(L.values[diagonal]);
  }
  return L;
}

/// About `mean` entries a row beside the diagonal, anywhere to its left.
template <class T>
TestMatrix<T> random_lower(Index n, Index mean) {
  std::mt19937 engine(5);
  std::uniform_int_distribution<Index> length(0, 2 * mean);
  return lower_triangle<T>(
      n, [&](Index i) { return test::random_columns(engine, i, length(engine)); });
}

/// The upper triangle that has the entries of L in the opposite order.
template <class T>
TestMatrix<T> reversed(const TestMatrix<T>& L) {
  TestMatrix<T> U;
  U.rows = U.cols = L.rows;
  for (auto i = static_cast<std::size_t>(L.rows); i-- > 0;) {
    for (auto e = static_cast<std::size_t>(L.offsets[i + 1]);
         e-- > static_cast<std::size_t>(L.offsets[i]);) {
      U.columns.push_back(static_cast<std::int32_t>(L.rows) - 1 - L.columns[e]);
      U.values.push_back(L.values[e]);
    }
    U.offsets.push_back(static_cast<std::int64_t>(U.columns.size()));
  }
  return U;
}

template <class T>
test::WideMatrix<T> to_eigen(const BlockView<T, HostSpace>& X) {
  return test::to_dense(ConstBlockView<T, HostSpace>(X));
}

/// Dense substitution in double.
template <class T>
test::WideMatrix<T> dense_solution(const TestMatrix<T>& A, Triangle triangle,
                                   test::WideMatrix<T> X) {
  const test::WideMatrix<T> dense = test::to_dense(A.view());
  if (triangle == Triangle::lower) {
    dense.template triangularView<Eigen::Lower>().solveInPlace(X);
  } else {
    dense.template triangularView<Eigen::Upper>().solveInPlace(X);
  }
  return X;
}

template <class Backend>
class Triangular : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;

  /// Solves with one plan for widths with kernels of their own, one after the other, in layouts
  /// that are aligned, padded and neither; beside X and in its place. What lies between b and ld
  /// stays.
  void expect_solutions(const TestMatrix<T>& A, Triangle triangle, Index levels) {
    auto plan = Backend::plan(this->on(), A, triangle);
    EXPECT_EQ(plan.levels(), levels);
    for (const Index b : {1, 3, 4, 8, 16, 31, 32, 33, 64, 130}) {
      for (const Index padding : {0, 4, 5}) {
        const std::string what = "b " + std::to_string(b) + ", ld " + std::to_string(b + padding);
        RandomBlock<T> X(A.rows, b, b + padding, 3);
        RandomBlock<T> Y(A.rows, b, b + padding, 4);
        Backend::solve(this->on(), plan, X.view(), Y.view());
        const test::WideMatrix<T> expected = dense_solution<T>(A, triangle, to_eigen(X.view()));
        EXPECT_LE((to_eigen(Y.view()) - expected).cwiseAbs().sum(), bound(A, b)) << what;
        expect_padding_untouched(Y, b + padding, b);
        Backend::solve(this->on(), plan, X.view(), X.view());
        EXPECT_EQ(to_eigen(X.view()), to_eigen(Y.view())) << what << ", in place";
      }
    }
  }

  void expect_solutions(const TestMatrix<T>& L, Index levels) {
    expect_solutions(L, Triangle::lower, levels);
    if (this->HasFailure()) return;
    expect_solutions(reversed(L), Triangle::upper, levels);
  }

 private:
  /// Of the sum of all errors: entries of X and Y are 2 at most.
  static double bound(const TestMatrix<T>& A, Index b) {
    return static_cast<double>(A.rows * b) * test::tolerance<T>(2, 1);
  }

  static void expect_padding_untouched(RandomBlock<T>& Y, Index ld, Index b) {
    for (std::size_t e = 0; e < Y.data().size(); ++e) {
      const bool padding = static_cast<Index>(e) % ld >= b;
      ASSERT_EQ(std::isnan(real_part(Y.data()[e])), padding) << "entry " << e << " of ld " << ld;
    }
  }
};
TYPED_TEST_SUITE_P(Triangular);

TYPED_TEST_P(Triangular, DiagonalIsOneLevel) {
  using T = typename TypeParam::Scalar;
  this->expect_solutions(lower_triangle<T>(300, [](Index) { return std::vector<Index>{}; }), 1);
}

TYPED_TEST_P(Triangular, BidiagonalHasALevelForEachRow) {
  using T = typename TypeParam::Scalar;
  const auto before = [](Index i) {
    return i > 0 ? std::vector<Index>{i - 1} : std::vector<Index>{};
  };
  this->expect_solutions(lower_triangle<T>(200, before), 200);
}

TYPED_TEST_P(Triangular, Grid) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> L = lower_triangle<T>(6 * 7 * 8, [](Index i) {
    std::vector<Index> columns;
    if (i / 42 > 0) columns.push_back(i - 42);
    if (i / 6 % 7 > 0) columns.push_back(i - 6);
    if (i % 6 > 0) columns.push_back(i - 1);
    return columns;
  });
  this->expect_solutions(L, 6 + 7 + 8 - 2);
}

TYPED_TEST_P(Triangular, AllEntries) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> L = lower_triangle<T>(150, [](Index i) {
    std::vector<Index> columns(static_cast<std::size_t>(i));
    for (Index j = 0; j < i; ++j) columns[static_cast<std::size_t>(j)] = j;
    return columns;
  });
  this->expect_solutions(L, 150);
}

TYPED_TEST_P(Triangular, ALongRowAmongShortOnes) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> L = lower_triangle<T>(400, [](Index i) {
    std::vector<Index> columns;
    if (i == 399) {
      for (Index j = 0; j < 399; ++j) columns.push_back(j);
    }
    return columns;
  });
  this->expect_solutions(L, 2);
}

TYPED_TEST_P(Triangular, OneRowOrNone) {
  using T = typename TypeParam::Scalar;
  for (const Index n : {0, 1}) {
    this->expect_solutions(lower_triangle<T>(n, [](Index) { return std::vector<Index>{}; }), n);
  }
}

TYPED_TEST_P(Triangular, NoColumns) {
  using T = typename TypeParam::Scalar;
  auto plan = TypeParam::plan(this->on(), random_lower<T>(10, 2), Triangle::lower);
  RandomBlock<T> X(10, 0, 4, 3);
  RandomBlock<T> Y(10, 0, 4, 4);
  TypeParam::solve(this->on(), plan, X.view(), Y.view());
}

/// Many rows wait for rows of other thread blocks, at any distance; the same bits each time.
TYPED_TEST_P(Triangular, RandomRowsAreSolvedToTheSameBitsEveryTime) {
  using T = typename TypeParam::Scalar;
  for (const Index mean : {2, 30}) {
    const TestMatrix<T> L = random_lower<T>(3000, mean);
    auto plan = TypeParam::plan(this->on(), L, Triangle::lower);
    for (const Index b : {1, 7, 16}) {
      RandomBlock<T> X(L.rows, b, b, 3);
      RandomBlock<T> Y(L.rows, b, b, 4);
      TypeParam::solve(this->on(), plan, X.view(), Y.view());
      for (Index i = 0; i < L.rows; ++i) {  // L Y = X, row by row
        for (Index j = 0; j < b; ++j) {
          Wide<T> sum = 0;
          for (auto e = static_cast<std::size_t>(L.offsets[static_cast<std::size_t>(i)]);
               e < static_cast<std::size_t>(L.offsets[static_cast<std::size_t>(i) + 1]); ++e) {
            sum +=
                static_cast<Wide<T>>(L.values[e]) * static_cast<Wide<T>>(Y.view()(L.columns[e], j));
          }
          ASSERT_LE(std::abs(sum - static_cast<Wide<T>>(X.view()(i, j))), test::tolerance<T>(4, 1));
        }
      }
      RandomBlock<T> again(L.rows, b, b, 5);
      TypeParam::solve(this->on(), plan, X.view(), again.view());
      EXPECT_EQ(again.data(), Y.data());
    }
  }
}

/// Rows that hold no number count as solved: none waits for them for ever.
TYPED_TEST_P(Triangular, NumbersThatAreNoneSpreadAlongEntriesOnly) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> L = lower_triangle<T>(40, [](Index i) {
    return i % 2 == 0 && i > 0 ? std::vector<Index>{i - 2} : std::vector<Index>{};
  });
  L.values[static_cast<std::size_t>(L.offsets[5]) - 1] = 0;  // the diagonal of row 4
  auto plan = TypeParam::plan(this->on(), L, Triangle::lower);
  RandomBlock<T> X(40, 3, 3, 3);
  X.view()(9, 1) = std::numeric_limits<RealOf<T>>::quiet_NaN();
  RandomBlock<T> Y(40, 3, 3, 4);
  TypeParam::solve(this->on(), plan, X.view(), Y.view());
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const bool spoilt = (i >= 4 && i % 2 == 0) || (i == 9 && j == 1);
      EXPECT_EQ(std::isfinite(std::abs(Y.view()(i, j))), !spoilt) << i << ", " << j;
    }
  }
}

TYPED_TEST_P(Triangular, RefusesWhatIsNoTriangle) {
  using T = typename TypeParam::Scalar;
  const auto message = [&](const TestMatrix<T>& A, Triangle triangle) {
    try {
      TypeParam::plan(this->on(), A, triangle);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto matrix = [](Index rows, Index cols, std::vector<std::vector<Index>> columns) {
    return test::matrix_with_pattern<T>(
        rows, cols, [&](Index i) { return columns[static_cast<std::size_t>(i)]; });
  };
  const auto lower = [&](std::vector<std::vector<Index>> columns) {
    return message(matrix(std::ssize(columns), std::ssize(columns), columns), Triangle::lower);
  };
  const auto upper = [&](std::vector<std::vector<Index>> columns) {
    return message(matrix(std::ssize(columns), std::ssize(columns), columns), Triangle::upper);
  };
  EXPECT_EQ(lower({{0}, {0, 1}}), "accepted");
  EXPECT_EQ(upper({{0, 1}, {1}}), "accepted");
  EXPECT_EQ(message(matrix(1, 2, {{0}}), Triangle::lower),
            "a lower triangular matrix must be square, it is 1x2");
  for (const std::vector<Index>& row : {std::vector<Index>{}, {0}, {0, 1, 1}, {1, 0}}) {
    EXPECT_EQ(lower({{0}, row}),
              "row 1 of a lower triangular matrix must hold its diagonal entry once, at its end");
  }
  for (const std::vector<Index>& row : {std::vector<Index>{}, {1}, {0, 0, 1}, {1, 0}}) {
    EXPECT_EQ(
        upper({row, {1}}),
        "row 0 of an upper triangular matrix must hold its diagonal entry once, at its beginning");
  }
  EXPECT_EQ(lower({{0, 1}, {1}}), "row 0 of a lower triangular matrix has an entry in column 1");
  EXPECT_EQ(upper({{0}, {0, 1}}), "row 1 of an upper triangular matrix has an entry in column 0");
}

TYPED_TEST_P(Triangular, RefusesShapesThatDoNotFit) {
  using T = typename TypeParam::Scalar;
  auto plan = TypeParam::plan(this->on(), random_lower<T>(6, 2), Triangle::lower);
  const auto message = [&](Index x_rows, Index x_cols, Index y_rows, Index y_cols) {
    RandomBlock<T> X(x_rows, x_cols, x_cols, 3);
    RandomBlock<T> Y(y_rows, y_cols, y_cols, 4);
    try {
      TypeParam::solve(this->on(), plan, X.view(), Y.view());
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message(5, 2, 6, 2), "Y = A⁻¹X does not fit: A is 6x6, X is 5x2, Y is 6x2");
  EXPECT_EQ(message(6, 2, 7, 2), "Y = A⁻¹X does not fit: A is 6x6, X is 6x2, Y is 7x2");
  EXPECT_EQ(message(6, 2, 6, 3), "Y = A⁻¹X does not fit: A is 6x6, X is 6x2, Y is 6x3");
}

REGISTER_TYPED_TEST_SUITE_P(Triangular, DiagonalIsOneLevel, BidiagonalHasALevelForEachRow, Grid,
                            AllEntries, ALongRowAmongShortOnes, OneRowOrNone, NoColumns,
                            RandomRowsAreSolvedToTheSameBitsEveryTime,
                            NumbersThatAreNoneSpreadAlongEntriesOnly, RefusesWhatIsNoTriangle,
                            RefusesShapesThatDoNotFit);

}  // namespace
}  // namespace heddle
