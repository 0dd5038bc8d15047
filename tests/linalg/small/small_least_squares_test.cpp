#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <limits>
#include <vector>

namespace heddle {
namespace {

/// A matrix given by rows.
SmallMatrix<double, HostSpace> from_rows(HostContext& context,
                                         const std::vector<std::vector<double>>& rows) {
  const auto m = static_cast<Index>(rows.size());
  const auto n = static_cast<Index>(rows.front().size());
  SmallMatrix<double, HostSpace> M(context, m, n);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      M.view(m, n)(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    }
  }
  return M;
}

struct Solved {
  std::optional<LeastSquaresFit> fit;
  std::vector<double> x;
};

Solved solve(const std::vector<std::vector<double>>& rows, const std::vector<double>& b,
             std::vector<double> guess = {},
             double epsilon = std::numeric_limits<double>::epsilon()) {
  HostContext context(1);
  const auto m = static_cast<Index>(rows.size());
  const auto n = static_cast<Index>(rows.front().size());
  SmallMatrix<double, HostSpace> A = from_rows(context, rows);
  guess.resize(static_cast<std::size_t>(n), 0.0);
  Solved solved{{}, guess};
  solved.fit = least_squares_solution(A.view(m, n), {b.data(), m, 1, m}, {solved.x.data(), n, 1, n},
                                      epsilon);
  return solved;
}

TEST(LeastSquaresSolution, OfTallSquareAndWideMatrices) {
  const Solved tall = solve({{1, 0}, {1, 1}, {1, 2}}, {1, 2, 6});  // a line: 0.5 + 2.5 t
  ASSERT_TRUE(tall.fit);
  EXPECT_EQ(tall.fit->rank, 2);
  EXPECT_NEAR(tall.x[0], 0.5, 1e-14);
  EXPECT_NEAR(tall.x[1], 2.5, 1e-14);
  const Solved square = solve({{2, 1}, {1, 3}}, {3, 4});
  EXPECT_NEAR(square.x[0], 1, 1e-14);
  EXPECT_NEAR(square.x[1], 1, 1e-14);
  const Solved wide = solve({{3, 4}}, {50});  // of least norm: (6, 8)
  EXPECT_EQ(wide.fit->rank, 1);
  EXPECT_NEAR(wide.x[0], 6, 1e-13);
  EXPECT_NEAR(wide.x[1], 8, 1e-13);
}

TEST(LeastSquaresSolution, OfLessThanFullRankIsNearestToTheGuess) {
  const std::vector<std::vector<double>> A{{1, 2, 0}, {2, 4, 0}, {0, 0, 0}};  // x₁ + 2 x₂ = 5
  const Solved least = solve(A, {5, 10, 7});
  ASSERT_TRUE(least.fit);
  EXPECT_EQ(least.fit->rank, 1);
  EXPECT_NEAR(least.x[0], 1, 1e-13);
  EXPECT_NEAR(least.x[1], 2, 1e-13);
  EXPECT_EQ(least.x[2], 0);
  const Solved near = solve(A, {5, 10, 7}, {3, -1, 4});  // moves along (1, 2, 0)
  EXPECT_NEAR(near.x[0], 3 + 0.8, 1e-13);
  EXPECT_NEAR(near.x[1], -1 + 1.6, 1e-13);
  EXPECT_NEAR(near.x[2], 4, 1e-13);
  EXPECT_EQ(solve({{0, 0}, {0, 0}}, {1, 1}).fit->rank, 0);
}

TEST(LeastSquaresSolution, ColumnsOfAllSizes) {
  const double tiny = 1e-200;
  const double huge = 1e200;
  const Solved solved = solve({{tiny, huge}, {tiny, -huge}, {0, 0}}, {3, 1, 5});
  ASSERT_TRUE(solved.fit);
  EXPECT_EQ(solved.fit->rank, 2);
  EXPECT_NEAR(solved.x[0] * tiny, 2, 1e-14);
  EXPECT_NEAR(solved.x[1] * huge, 1, 1e-14);
}

TEST(LeastSquaresSolution, TheRankDependsOnTheRoundingOfTheEntries) {
  const std::vector<std::vector<double>> A{{1, 1}, {0, 1e-9}};
  EXPECT_EQ(solve(A, {1, 0}).fit->rank, 2);
  EXPECT_EQ(solve(A, {1, 0}, {}, 1e-7).fit->rank, 1);
}

TEST(LeastSquaresSolution, EstimatesTheError) {
  // κ of the scaled columns is about 2/δ. A b outside of their range squares it.
  const double d = 1e-6;
  const std::vector<std::vector<double>> A{{1, 1}, {0, d}, {0, 0}};
  const double epsilon = std::numeric_limits<double>::epsilon();
  const double inside = solve(A, {2, d, 0}).fit->errors[0];
  EXPECT_GT(inside, 0.1 * epsilon / d);
  EXPECT_LT(inside, 10 * epsilon / d);
  const double outside = solve(A, {2, d, 1}).fit->errors[0];
  EXPECT_GT(outside, 0.1 * epsilon / (d * d));
  EXPECT_LT(outside, 10 * epsilon / (d * d));
}

TEST(LeastSquaresSolution, RefusesWhatIsNotFiniteAndShapesThatDoNotFit) {
  EXPECT_FALSE(solve({{1, std::nan("")}}, {1}).fit);
  EXPECT_FALSE(solve({{1, 2}}, {std::numeric_limits<double>::infinity()}).fit);
  HostContext context(1);
  SmallMatrix<double, HostSpace> A(context, 3, 2), B(context, 2, 1), X(context, 2, 1);
  EXPECT_THROW(least_squares_solution(A.view(3, 2), B.view(2, 1), X.view(2, 1), 1e-16),
               InvalidArgument);
}

}  // namespace
}  // namespace heddle
