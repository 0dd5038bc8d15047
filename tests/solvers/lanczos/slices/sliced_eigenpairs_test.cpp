#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/slices/slice_sizes.hpp>
#include <heddle/solvers/lanczos/slices/sliced_eigenpairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::to_dense;
using Matrix = HostCsrMatrix<double>;
using Result = EigenResult<double, HostSpace>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The eigenvalues of `laplace3d`, ascending: 6 − 2 Σ cos(kπ/(m + 1)) over the sides m.
std::vector<double> laplace_values(const std::vector<Index>& sides) {
  std::vector<double> values{0};
  for (const Index side : sides) {
    std::vector<double> next;
    for (const double value : values) {
      for (Index k = 1; k <= side; ++k) {
        const double angle =
            static_cast<double>(k) * std::numbers::pi / static_cast<double>(side + 1);
        next.push_back(value + 2 - 2 * std::cos(angle));
      }
    }
    values = next;
  }
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> dense_values(const Matrix& A, const Matrix& B) {
  const Eigen::MatrixXd dense = to_dense(A.view());
  Eigen::VectorXd values;
  if (B.rows() == 0) {
    values = test::eigenvalues(dense);
  } else {
    values = test::eigenvalues(dense, to_dense(B.view()));
  }
  return {values.data(), values.data() + values.size()};
}

std::vector<double> between(const std::vector<double>& values, double a, double b) {
  std::vector<double> inside;
  for (const double value : values) {
    if (a <= value && value <= b) inside.push_back(value);
  }
  return inside;
}

IntervalOptions interval(double lower, double upper, Index nev) {
  IntervalOptions options;
  options.lower = lower;
  options.upper = upper;
  options.nev = nev;
  return options;
}

class SlicedEigenpairs : public testing::Test {
 protected:
  Result solve(const Matrix& A, const Matrix& B, const IntervalOptions& options,
               const Monitor& monitor = {}) {
    SparseOperator<double, HostContext> product(context_, A.view());
    std::optional<SparseOperator<double, HostContext>> mass;
    if (B.rows() > 0) mass.emplace(context_, B.view());
    IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
    EigenProblem<double, HostContext> problem;
    problem.A = &product;
    problem.B = mass ? &*mass : nullptr;
    return sliced_eigenpairs<double, HostContext>(context_, problem, inverse, options, monitor);
  }

  /// Solves and compares values, residuals, orthogonality and the proof with `truth`, all values.
  Result expect_all(const Matrix& A, const Matrix& B, const std::vector<double>& truth,
                    const IntervalOptions& options) {
    Result result = solve(A, B, options);
    const std::string where = "[" + std::to_string(options.lower) + ", " +
                              std::to_string(options.upper) + "], " + result.reason;
    EXPECT_EQ(result.status, SolveStatus::converged) << where;
    EXPECT_TRUE(result.completeness.proven) << where;
    const double size = std::max(std::abs(truth.front()), std::abs(truth.back()));
    // Values at an end may lie on either side of it, to rounding.
    const double rounding = 1e-12 * size;
    const auto least = between(truth, options.lower + rounding, options.upper - rounding);
    const auto most = between(truth, options.lower - rounding, options.upper + rounding);
    EXPECT_GE(result.eigenvalues.size(), least.size()) << where;
    EXPECT_LE(result.eigenvalues.size(), most.size()) << where;
    if (result.eigenvalues.size() != most.size()) return result;
    for (std::size_t j = 0; j < most.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], most[j], result.error_bounds[j] + 1e-11 * size) << where;
      EXPECT_LE(result.residuals[j], 1e-8) << where;
      EXPECT_TRUE(result.converged[j]) << where;
    }
    if (!most.empty()) expect_orthonormal(result, B, where);
    return result;
  }

  static void expect_orthonormal(const Result& result, const Matrix& B, const std::string& where) {
    const Eigen::MatrixXd X =
        to_dense<double>(result.eigenvectors.view().columns(0, std::ssize(result.eigenvalues)));
    const Eigen::MatrixXd BX = B.rows() == 0 ? X : (to_dense(B.view()) * X).eval();
    const Eigen::MatrixXd gram = X.transpose() * BX;
    EXPECT_LE((gram - Eigen::MatrixXd::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff(),
              1e-10)
        << where;
  }

  static bool has(const Result& result, const std::string& words) {
    return result.reason.find(words) != std::string::npos;
  }

  Matrix diagonal(const std::vector<double>& values) {
    std::vector<Triplet<double>> entries;
    for (std::size_t i = 0; i < values.size(); ++i) {
      entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
    }
    const auto n = static_cast<Index>(values.size());
    return csr_from_triplets<double>(context_, n, n, entries);
  }

  HostContext context_;
  const Matrix none_{};
};

/// Of a cube, most eigenvalues have three or six copies, and seams lie among them.
TEST_F(SlicedEigenpairs, OfACubeHaveAllTheirCopies) {
  const Matrix A = generate<double>(context_, {"laplace3d", {11, 11, 11}});
  const std::vector<double> truth = laplace_values({11, 11, 11});
  const Result result = expect_all(A, none_, truth, interval(1.2, 4, 1331));
  EXPECT_EQ(result.completeness.method, CompletenessMethod::inertia);
  EXPECT_FALSE(has(result, "in 1 slices")) << result.reason;
  expect_all(A, none_, truth, interval(-1, truth[60], 200));  // the end is an eigenvalue
  expect_all(A, none_, truth, interval(truth[100], truth[130], 200));
}

TEST_F(SlicedEigenpairs, OfASolidWithMass) {
  const Index length = test::kSanitized ? 3 : 6;
  const Matrix A = generate<double>(context_, {"elasticity3d", {5, 5, length}});
  const Matrix B = generate<double>(context_, {"elasticity3d_mass", {5, 5, length}});
  const std::vector<double> truth = dense_values(A, B);
  expect_all(A, B, truth, interval(0, 0.5 * (truth[99] + truth[100]), 100));
  if (test::kSanitized) return;
  expect_all(A, B, truth,
             interval(0.5 * (truth[20] + truth[21]), 0.5 * (truth[80] + truth[81]), 100));
  expect_all(A, B, truth, interval(-kInfinity, 0.5 * (truth[30] + truth[31]), 40));
  expect_all(A, B, truth,
             interval(0.5 * (truth[truth.size() - 31] + truth[truth.size() - 30]), kInfinity, 40));
}

/// A dense solve of all pairs would cost more.
TEST_F(SlicedEigenpairs, AllPairsOfALongChain) {
  const Index n = test::kSanitized ? 400 : 700;
  const Matrix A = generate<double>(context_, {"laplace1d", {n}});
  expect_all(A, none_, laplace_values({n}), interval(-kInfinity, kInfinity, n));
}

TEST_F(SlicedEigenpairs, EigenvaluesAtTheEndsBelongToTheInterval) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i);
  const Result result = expect_all(diagonal(values), none_, values, interval(100, 110, 20));
  ASSERT_EQ(result.eigenvalues.size(), 11U);
  EXPECT_TRUE(result.straddles.front());
  EXPECT_TRUE(result.straddles.back());
  EXPECT_EQ(std::count(result.straddles.begin(), result.straddles.end(), true), 2);
}

/// The ends are counted a little farther out. What lies there is no pair of the interval.
TEST_F(SlicedEigenpairs, EigenvaluesJustBeyondTheEndsAreLeftOut) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i);
  const Matrix A = diagonal(values);
  const Result result = expect_all(A, none_, values, interval(100 + 1e-7, 110 - 1e-7, 20));
  EXPECT_EQ(result.eigenvalues.size(), 9U);
}

TEST_F(SlicedEigenpairs, WithoutEigenvaluesThereIsNone) {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(i);
  const Matrix A = diagonal(values);
  for (const IntervalOptions& options :
       {interval(20.2, 20.8, 5), interval(1e3, 1e4, 5), interval(-kInfinity, -1, 5),
        interval(400, kInfinity, 5)}) {
    const Result result = solve(A, none_, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.completeness.proven);
    EXPECT_TRUE(result.eigenvalues.empty());
  }
}

/// Eigenvalues of a ring have two copies, among which seams and ends of the interval lie. With a
/// tolerance below rounding, all pairs are counted and found nevertheless.
TEST_F(SlicedEigenpairs, CopiesToRounding) {
  const Index n = test::kSanitized ? 300 : 600;
  std::vector<Triplet<double>> entries;
  std::vector<double> truth;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, 2});
    entries.push_back({i, (i + 1) % n, -1});
    entries.push_back({i, (i + n - 1) % n, -1});
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    truth.push_back(2 - 2 * std::cos(angle));
  }
  std::sort(truth.begin(), truth.end());
  const Matrix ring = csr_from_triplets<double>(context_, n, n, entries);
  for (const auto& [lower, upper] : {std::pair(1.0, 3.0), std::pair(0.0, 0.5)}) {
    IntervalOptions options = interval(lower, upper, n);
    options.tolerance = 1e-14;
    const Result result = solve(ring, none_, options);
    const bool at_rounding = result.status == SolveStatus::stagnated;
    EXPECT_TRUE(result.status == SolveStatus::converged || at_rounding) << result.reason;
    EXPECT_TRUE(result.completeness.proven) << result.reason;
    const auto all = between(truth, lower - 1e-12, upper + 1e-12);
    ASSERT_EQ(result.eigenvalues.size(), all.size()) << result.reason;
    for (std::size_t j = 0; j < all.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], all[j], result.error_bounds[j] + 1e-13);
      EXPECT_LE(result.residuals[j], 3e-14);
    }
    expect_orthonormal(result, none_, result.reason);
  }
}

TEST_F(SlicedEigenpairs, OfAMatrixOfZeros) {
  const Matrix zeros = diagonal(std::vector<double>(300, 0));
  for (const auto& [lower, upper] : {std::pair(0.0, 1.0), std::pair(-1.0, 0.0)}) {
    const Result result = solve(zeros, none_, interval(lower, upper, 300));
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_EQ(std::ssize(result.eigenvalues), 300);
  }
  EXPECT_TRUE(solve(zeros, none_, interval(1, 2, 300)).eigenvalues.empty());
}

/// Copies that fill more than a slice: no factor divides them.
TEST_F(SlicedEigenpairs, ManyCopiesOfOneValueAreAllFound) {
  std::vector<double> values;
  for (int i = 0; i < 900; ++i) values.push_back(i < 250 ? 300.5 : i);
  std::sort(values.begin(), values.end());
  expect_all(diagonal(values), none_, values, interval(290, 310, 900));
}

TEST_F(SlicedEigenpairs, TightClustersAreFoundOnce) {
  std::vector<double> values;
  for (int i = 0; i < 600; ++i) values.push_back(std::floor(i / 20.0) + 1e-7 * (i % 20));
  expect_all(diagonal(values), none_, values, interval(4.5, 15.5, 600));
}

/// Distances from 0 of many sizes: a number in the middle of the interval lies above most values.
TEST_F(SlicedEigenpairs, OfValuesOfManySizes) {
  std::vector<double> values;
  for (int i = 0; i < 500; ++i) values.push_back(std::pow(10, i / 100.0));
  expect_all(diagonal(values), none_, values, interval(0.5, 4e4, 500));
}

TEST_F(SlicedEigenpairs, MoreThanNevAreCountedAndNotComputed) {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(i);
  const Result result = solve(diagonal(values), none_, interval(10.5, 30.5, 19));
  EXPECT_EQ(result.status, SolveStatus::max_iterations);
  EXPECT_TRUE(has(result, "the interval holds 20 eigenvalues, more than nev = 19"));
  EXPECT_TRUE(result.eigenvalues.empty());
  EXPECT_EQ(result.inverse_applications, 0);
}

TEST_F(SlicedEigenpairs, SmallProblemsAreSolvedAsDenseOnes) {
  const Matrix A = generate<double>(context_, {"elasticity3d", {2, 2, 3}});
  const Matrix B = generate<double>(context_, {"elasticity3d_mass", {2, 2, 3}});
  const std::vector<double> truth = dense_values(A, B);
  const double end = 0.5 * (truth[11] + truth[12]);
  EXPECT_EQ(expect_all(A, B, truth, interval(0, end, 12)).completeness.method,
            CompletenessMethod::dense);
  const Result crowded = solve(A, B, interval(0, end, 11));
  EXPECT_EQ(crowded.status, SolveStatus::max_iterations);
  EXPECT_TRUE(has(crowded, "more than nev = 11")) << crowded.reason;
}

/// Unknowns without mass: these eigenvalues are infinite.
TEST_F(SlicedEigenpairs, OfASingularMass) {
  const Matrix A = generate<double>(context_, {"laplace2d", {20, 20}});
  std::vector<double> mass;
  for (int i = 0; i < 400; ++i) mass.push_back(i % 4 == 0 ? 0 : 1);
  const Matrix B = diagonal(mass);
  // The unknowns without mass are condensed out.
  const Eigen::MatrixXd K = to_dense(A.view());
  std::vector<Eigen::Index> with, without;
  for (Eigen::Index i = 0; i < 400; ++i) (i % 4 == 0 ? without : with).push_back(i);
  const Eigen::MatrixXd coupling = K(without, with);
  const Eigen::MatrixXd condensed =
      K(with, with) - coupling.transpose() * test::solve_definite(K(without, without), coupling);
  const Eigen::VectorXd values = test::eigenvalues(condensed);
  const std::vector<double> truth(values.data(), values.data() + values.size());
  expect_all(A, B, truth,
             interval(0.5 * (truth[9] + truth[10]), 0.5 * (truth[79] + truth[80]), 100));
}

/// Other problems with --gtest_random_seed.
TEST_F(SlicedEigenpairs, OfRandomProblems) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int problem = 0; problem < 6; problem += test::kSanitized ? 3 : 1) {
    SCOPED_TRACE(problem);
    const Index n = 270 + static_cast<Index>(engine() % 100);
    std::vector<Triplet<double>> A, B;
    const double coupling = problem % 2 == 0 ? 1 : 1e-6;  // clusters
    for (Index i = 0; i < n; ++i) {
      A.push_back({i, i, std::floor(5 * uniform(engine)) + 0.5});
      B.push_back({i, i, 2 + uniform(engine)});
      for (int k = 0; k < 2; ++k) {
        const auto j = static_cast<Index>(engine() % static_cast<std::uint64_t>(n));
        const double value = coupling * uniform(engine);
        if (i != j) A.insert(A.end(), {{i, j, value}, {j, i, value}});
      }
    }
    const Matrix a = csr_from_triplets<double>(context_, n, n, A);
    const Matrix b = problem < 3 ? Matrix{} : csr_from_triplets<double>(context_, n, n, B);
    const std::vector<double> truth = dense_values(a, b);
    const auto at = [&](Index place) { return truth[static_cast<std::size_t>(place)]; };
    const Index first = static_cast<Index>(engine() % 100);
    const Index last = first + 20 + static_cast<Index>(engine() % 140);
    expect_all(a, b, truth, interval(at(first) - 1e-3, at(last) + 1e-3, n));
  }
}

TEST_F(SlicedEigenpairs, AStoppedSolveKeepsThePairsSoFar) {
  const Matrix A = generate<double>(context_, {"laplace3d", {11, 11, 11}});
  const std::vector<double> truth = laplace_values({11, 11, 11});
  Index shown = 0;
  const auto stop_later = [&](const MonitorState& state) {
    shown = state.nev;
    return state.record.converged < 60;
  };
  const Result result = solve(A, none_, interval(1.2, 4, 1331), Monitor(stop_later));
  EXPECT_EQ(result.status, SolveStatus::interrupted) << result.reason;
  EXPECT_EQ(shown, std::ssize(between(truth, 1.2, 4)));
  EXPECT_FALSE(result.completeness.proven);
  EXPECT_GE(result.eigenvalues.size(), 20U);
  EXPECT_LT(std::ssize(result.eigenvalues), shown);
  for (const double value : result.eigenvalues) {
    const auto next = std::lower_bound(truth.begin(), truth.end(), value - 1e-9);
    ASSERT_NE(next, truth.end());
    EXPECT_NEAR(*next, value, 1e-9);
  }
}

/// A request to stop that comes at any moment, also before a slice is counted.
TEST_F(SlicedEigenpairs, AStopIsNoBreakdown) {
  const Matrix A = generate<double>(context_, {"laplace2d", {20, 20}});
  const auto stopped_at = [&](Index last, Index& events) {
    events = 0;
    Monitor monitor;
    monitor.stage = [&](std::string_view) { ++events; };
    monitor.stop = [&] { return ++events >= last; };
    return solve(A, none_, interval(1.2, 2, 400), monitor);
  };
  Index all = 0;
  const Result whole = stopped_at(std::numeric_limits<Index>::max(), all);
  ASSERT_EQ(whole.status, SolveStatus::converged) << whole.reason;
  for (Index last = 1, events = 0; last <= all; ++last) {
    const Result result = stopped_at(last, events);
    const bool proven = result.status == SolveStatus::converged && result.completeness.proven;
    EXPECT_TRUE(result.status == SolveStatus::interrupted || proven)
        << last << " of " << all << ": " << result.reason;
  }
}

TEST_F(SlicedEigenpairs, LimitsEndASolve) {
  const Matrix A = generate<double>(context_, {"laplace3d", {11, 11, 11}});
  IntervalOptions options = interval(1.2, 4, 1331);
  options.max_iterations = 1;
  EXPECT_EQ(solve(A, none_, options).status, SolveStatus::max_iterations);
  options.max_iterations = 1000;
  options.time_limit_s = 1e-9;
  const Result late = solve(A, none_, options);
  EXPECT_EQ(late.status, SolveStatus::time_limit);
  EXPECT_TRUE(late.eigenvalues.empty());
}

TEST_F(SlicedEigenpairs, MisuseNamesBothSides) {
  const Matrix A = generate<double>(context_, {"laplace1d", {300}});
  EXPECT_THROW(solve(A, none_, interval(2, 1, 5)), InvalidArgument);
  EXPECT_THROW(solve(A, none_, interval(1, 2, 301)), InvalidArgument);
  EXPECT_THROW(solve(A, generate<double>(context_, {"laplace1d", {299}}), interval(1, 2, 5)),
               InvalidArgument);
}

/// Expensive factors are worth more pairs each.
TEST(SliceSizes, GrowWithTheCostOfAFactor) {
  EXPECT_LT(detail::pairs_per_slice(10000, 5e4, 8), detail::pairs_per_slice(10000, 5e6, 8));
  EXPECT_GE(detail::pairs_per_slice(300, 600, 8), 16);
}

}  // namespace
}  // namespace heddle
