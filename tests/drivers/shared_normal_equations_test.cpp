#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <numeric>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "support/sanitized.hpp"

/// Singular triplets and least squares by threads of this program in the place of processes, each
/// with a range of the rows and a range of the columns of A.
namespace heddle {
namespace {

struct OfThreads : Device {
  explicit OfThreads(int count) : Device(DeviceChoice::host, count, detail::followers(count)) {}
};

/// A sparse matrix of any shape, with its arrays.
struct Rectangle {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns{};
  std::vector<double> values{};

  Matrix matrix() const { return {rows, cols, offsets, columns, values}; }
};

/// Up to four entries per row, in columns from all over the matrix, none in the last `empty`
/// columns. Column j has norms of about (1 + j/cols)², so that the singular values are apart.
Rectangle rectangle(Index rows, Index cols, Index empty = 0) {
  std::mt19937 engine(static_cast<unsigned>(rows + 7 * cols));
  std::uniform_int_distribution<std::int32_t> place(0, static_cast<std::int32_t>(cols - empty) - 1);
  std::uniform_real_distribution<double> value(0.5, 1.5);
  Rectangle A{rows, cols};
  for (Index i = 0; i < rows; ++i) {
    std::vector<std::int32_t> row{static_cast<std::int32_t>(i % (cols - empty))};
    for (int k = 0; k < 3; ++k) row.push_back(place(engine));
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    for (const std::int32_t j : row) {
      const double weight = 1 + static_cast<double>(j) / static_cast<double>(cols);
      A.columns.push_back(j);
      A.values.push_back(weight * weight * value(engine));
    }
    A.offsets.push_back(std::ssize(A.columns));
  }
  return A;
}

Problem triplets_of(const Rectangle& A) { return {.A = A.matrix(), .normal_equations = true}; }

/// Right-hand sides for A, row by row.
std::vector<double> right_hand_sides(const Rectangle& A, Index columns) {
  std::mt19937 engine(5);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> rhs(static_cast<std::size_t>(A.rows * columns));
  for (double& entry : rhs) entry = value(engine);
  return rhs;
}

/// `rhs` must outlive the problem, as A must.
Problem system_of(const Rectangle& A, const std::vector<double>& rhs) {
  return {.A = A.matrix(),
          .rhs = Block(A.rows, std::ssize(rhs) / A.rows, rhs),
          .normal_equations = true};
}

ConstBlockView<double, HostSpace> view_of(const HostVectors& vectors) {
  return std::get<HostBlock<double>>(vectors).view();
}

/// ‖A x − σ y‖₂, or of Aᵀ, for columns j of X and Y.
double residual(const Rectangle& A, bool transposed, const HostVectors& X, double sigma,
                const HostVectors& Y, Index j) {
  const auto x = view_of(X), y = view_of(Y);
  std::vector<double> r(static_cast<std::size_t>(y.rows()));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = -sigma * y(static_cast<Index>(i), j);
  for (Index i = 0; i < A.rows; ++i) {
    for (auto e = static_cast<std::size_t>(A.offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(A.offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const auto [to, from] = transposed ? std::pair<Index, Index>(A.columns[e], i)
                                         : std::pair<Index, Index>(i, A.columns[e]);
      r[static_cast<std::size_t>(to)] += A.values[e] * x(from, j);
    }
  }
  double sum = 0;
  for (const double entry : r) sum += entry * entry;
  return std::sqrt(sum);
}

double first_entry(const HostVectors& vectors) { return view_of(vectors)(0, 0); }

/// A second solve by the same threads has the bits of the first.
void expect_bits(Device& device, const Problem& problem, const Request& request,
                 const Solution& first) {
  const Solution again = solve(device, problem, request);
  EXPECT_EQ(again.iterations, first.iterations);
  EXPECT_EQ(again.singular_values, first.singular_values);
  EXPECT_EQ(again.residuals, first.residuals);
  EXPECT_EQ(first_entry(again.vectors), first_entry(first.vectors));
}

/// Threads find the triplets of one, with vectors whose rows are in the order of A.
void expect_triplets(const Rectangle& A, const Request& request, std::vector<int> counts) {
  const Problem problem = triplets_of(A);
  Device alone(DeviceChoice::host, 1);
  const Solution one = solve(alone, problem, request);
  ASSERT_EQ(one.status, SolveStatus::converged) << one.reason;
  for (const int count : counts) {
    SCOPED_TRACE(::testing::Message() << A.rows << "x" << A.cols << " on " << count);
    OfThreads device(count);
    const Solution several = solve(device, problem, request);
    ASSERT_EQ(several.status, one.status) << several.reason;
    EXPECT_NEAR(static_cast<double>(several.iterations), static_cast<double>(one.iterations), 1);
    ASSERT_EQ(view_of(several.left_vectors).rows(), A.rows);
    ASSERT_EQ(view_of(several.vectors).rows(), A.cols);
    ASSERT_EQ(several.singular_values.size(), one.singular_values.size());
    const double scale = *std::max_element(one.singular_values.begin(), one.singular_values.end());
    for (Index j = 0; j < request.nev; ++j) {
      const auto k = static_cast<std::size_t>(j);
      const double sigma = several.singular_values[k];
      EXPECT_NEAR(sigma, one.singular_values[k],
                  several.error_bounds[k] + one.error_bounds[k] + 1e-13 * scale);
      const double norm = 1e-6 * 10;  // ‖A‖₂ is below 10
      EXPECT_LE(residual(A, false, several.vectors, sigma, several.left_vectors, j), norm);
      EXPECT_LE(residual(A, true, several.left_vectors, sigma, several.vectors, j), norm);
    }
    expect_bits(device, problem, request, several);
  }
}

/// Threads find the solutions of one.
void expect_solutions(const Rectangle& A, Index columns, Request request, std::vector<int> counts) {
  request.method = Method::block_cg;
  const std::vector<double> rhs = right_hand_sides(A, columns);
  const Problem problem = system_of(A, rhs);
  Device alone(DeviceChoice::host, 1);
  const Solution one = solve(alone, problem, request);
  ASSERT_EQ(one.status, SolveStatus::converged) << one.reason;
  const auto X = view_of(one.vectors);
  const double size_of_rhs =
      std::sqrt(std::inner_product(rhs.begin(), rhs.end(), rhs.begin(), 0.0));
  for (const int count : counts) {
    SCOPED_TRACE(::testing::Message() << A.rows << "x" << A.cols << " on " << count);
    OfThreads device(count);
    const Solution several = solve(device, problem, request);
    ASSERT_EQ(several.status, one.status) << several.reason;
    EXPECT_NEAR(static_cast<double>(several.iterations), static_cast<double>(one.iterations), 1);
    EXPECT_EQ(several.preconditioner_name, one.preconditioner_name);
    const auto Y = view_of(several.vectors);
    ASSERT_EQ(Y.rows(), A.cols);
    for (Index j = 0; j < columns; ++j) {
      double difference = 0, size = 0;
      for (Index i = 0; i < A.cols; ++i) {
        difference = std::max(difference, std::abs(X(i, j) - Y(i, j)));
        size = std::max(size, std::abs(X(i, j)));
      }
      EXPECT_LE(difference, 1e-6 * size) << j;
      const auto k = static_cast<std::size_t>(j);
      EXPECT_NEAR(several.residual_norms[k], one.residual_norms[k], 1e-8 * size_of_rhs);
    }
    expect_bits(device, problem, request, several);
  }
}

Request triplets(Method method, Which which, Index nev) {
  return {.method = method, .nev = nev, .which = which};
}

/// The eigensolvers on AᵀA.
TEST(SharedNormalEquations, TripletsByIteration) {
  HEDDLE_SKIP_WITH_SANITIZER();
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1800, 700}, {700, 1800}, {1100, 1100}}) {
    const Rectangle A = rectangle(rows, cols);
    expect_triplets(A, triplets(Method::block_lanczos, Which::largest, 5), {2, 3});
    expect_triplets(A, triplets(Method::lobpcg, Which::largest, 4), {4});
  }
  expect_triplets(rectangle(1800, 700), triplets(Method::block_lanczos, Which::smallest, 3), {3});
}

/// Small matrices, of which process 0 decomposes all, and those with one short side.
TEST(SharedNormalEquations, TripletsOfDenseProblems) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{90, 40}, {40, 90}, {50, 50}, {3, 2}}) {
    const Rectangle A = rectangle(rows, cols);
    expect_triplets(A, triplets(Method::block_lanczos, Which::smallest, 2), {2, 4});
    expect_triplets(A, triplets(Method::lobpcg, Which::largest, 2), {3});
  }
  expect_triplets(rectangle(12000, 100), triplets(Method::block_lanczos, Which::largest, 3), {3});
}

/// The short side has fewer rows than there are threads, some of which hold none of them.
TEST(SharedNormalEquations, TripletsWithoutRowsOfOneSide) {
  HEDDLE_SKIP_WITH_SANITIZER();
  expect_triplets(rectangle(400000, 3), triplets(Method::block_lanczos, Which::largest, 3), {4});
  expect_triplets(rectangle(3, 60), triplets(Method::block_lanczos, Which::smallest, 2), {4});
}

/// Singular values of 0, whose left vectors are random to begin with.
TEST(SharedNormalEquations, TripletsOfLessThanFullRank) {
  HEDDLE_SKIP_WITH_SANITIZER();
  const Rectangle A = rectangle(1800, 700, 2);
  const Request request = triplets(Method::block_lanczos, Which::smallest, 3);
  expect_triplets(A, request, {2, 3});
  OfThreads device(3);
  const Solution found = solve(device, triplets_of(A), request);
  EXPECT_GT(found.iterations, 0);
  EXPECT_LE(found.singular_values[1], 1e-12);
  EXPECT_GE(found.singular_values[2], 1e-3);
}

TEST(SharedNormalEquations, LeastSquares) {
  expect_solutions(rectangle(900, 300), 3, {}, {2, 3, 4});
  expect_solutions(rectangle(900, 300), 2, {.preconditioner = {.type = "none"}}, {3});
  expect_solutions(rectangle(300, 900), 2, {}, {2});
  expect_solutions(rectangle(900, 300), 2, {.precision = Precision::mixed}, {3});
  expect_solutions(rectangle(200, 3), 2, {}, {4});
}

TEST(SharedNormalEquations, LeastSquaresFromAGuessOrWithAPreconditionerOfTheCaller) {
  const Rectangle A = rectangle(500, 200);
  const std::vector<double> rhs = right_hand_sides(A, 2);
  Problem problem = system_of(A, rhs);
  const Request request{.method = Method::block_cg};
  Device alone(DeviceChoice::host, 1);
  const Solution one = solve(alone, problem, request);
  OfThreads device(3);
  problem.initial_guess = std::get<HostBlock<double>>(one.vectors);
  EXPECT_LE(solve(device, problem, request).iterations, 1);
  problem.initial_guess = {};
  problem.preconditioner = Matrix::generate({.name = "laplace1d", .size = {200}});
  const Solution preconditioned = solve(device, problem, request);
  EXPECT_EQ(preconditioned.status, SolveStatus::converged) << preconditioned.reason;
  EXPECT_NEAR(first_entry(preconditioned.vectors), first_entry(one.vectors), 1e-6);
}

TEST(SharedNormalEquations, RefuseWhatOneProcessTakes) {
  OfThreads device(2);
  const Rectangle A = rectangle(90, 40);
  const auto refusal = [&](const Problem& problem, const Request& request) -> std::string {
    try {
      solve(device, problem, request);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  Request request = triplets(Method::block_lanczos, Which::largest, 2);
  request.distribution = Distribution::metis;
  EXPECT_EQ(refusal(triplets_of(A), request),
            "distribution: metis orders rows and columns alike, which normal equations do not: use "
            "auto or rows");
  Problem callable = triplets_of(A);
  callable.A = Matrix(90, 40, [](auto, auto) {});
  callable.A_transposed = Matrix(40, 90, [](auto, auto) {});
  EXPECT_NE(refusal(callable, triplets(Method::block_lanczos, Which::largest, 2)).find("callable"),
            std::string::npos);
  request.distribution = Distribution::rows;
  EXPECT_EQ(solve(device, triplets_of(A), request).distribution,
            "rows and columns in order, each with ranges of its own");
}

}  // namespace
}  // namespace heddle
