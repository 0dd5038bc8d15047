#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/apart.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/slices/sliced_eigenpairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <support/decompositions.hpp>
#include <support/dense.hpp>
#include <support/processes.hpp>
#include <support/sanitized.hpp>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using test::processes;
using test::to_dense;
using Matrix = HostCsrMatrix<double>;
using Operator = SparseOperator<double, HostContext>;
using Problem = EigenProblem<double, HostContext>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// All eigenvalues, ascending, by a dense solve.
std::vector<double> dense_values(const Matrix& A, const Matrix& B) {
  const Eigen::MatrixXd a = to_dense(A.view());
  const Eigen::MatrixXd b =
      B.rows() == 0 ? Eigen::MatrixXd::Identity(a.rows(), a.cols()) : to_dense(B.view());
  const Eigen::VectorXd values = test::eigenvalues(a, b);
  return {values.data(), values.data() + values.size()};
}

/// The eigenvalues of `laplace3d` on a cube, ascending: 6 − 2 Σ cos(kπ/(m + 1)) over its sides.
std::vector<double> cube_values(Index m) {
  std::vector<double> side, values;
  for (Index k = 1; k <= m; ++k) {
    const double angle = static_cast<double>(k) * std::numbers::pi / static_cast<double>(m + 1);
    side.push_back(2 - 2 * std::cos(angle));
  }
  for (const double x : side) {
    for (const double y : side) {
      for (const double z : side) values.push_back(x + y + z);
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> between(const std::vector<double>& values, double a, double b) {
  std::vector<double> inside;
  std::copy_if(values.begin(), values.end(), std::back_inserter(inside),
               [&](double value) { return a <= value && value <= b; });
  return inside;
}

/// Processes search parts of an interval side by side.
class DistributedSlices : public test::OnProcesses {
 protected:
  using Result = EigenResult<double, HostSpace>;

  static IntervalOptions interval(double lower, double upper, Index nev) {
    IntervalOptions options;
    options.lower = lower;
    options.upper = upper;
    options.nev = nev;
    return options;
  }

  Result solve(const Matrix& A, const Matrix& B, const IntervalOptions& options,
               const Monitor& monitor = {}) {
    const RowRanges rows = equal_rows(A.rows(), processes()->size());
    const auto A_rows = scatter<double>(together_, A.view(), rows, rows);
    Operator product(together_, A_rows.view());
    std::optional<DistributedCsr<double, HostSpace>> B_rows;
    std::optional<Operator> mass, whole_product, whole_mass;
    if (B.rows() > 0) {
      B_rows = scatter<double>(together_, B.view(), rows, rows);
      mass.emplace(together_, B_rows->view());
    }
    {
      const detail::Apart<HostContext> apart(together_);
      whole_product.emplace(together_, A.view());
      if (B.rows() > 0) whole_mass.emplace(together_, B.view());
    }
    IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
    const Problem shared{&product, mass ? &*mass : nullptr};
    const Problem whole{&*whole_product, whole_mass ? &*whole_mass : nullptr};
    Result result = sliced_eigenpairs<double, HostContext>(together_, shared, inverse, options,
                                                           monitor, &whole);
    EXPECT_TRUE(processes()->same(static_cast<std::uint64_t>(result.status)));
    EXPECT_TRUE(processes()->same(result.eigenvalues.size()));
    return result;
  }

  /// Solves, and compares all values with `truth`, and on process 0 the vectors with the problem.
  Result expect_all(const Matrix& A, const Matrix& B, const std::vector<double>& truth,
                    const IntervalOptions& options) {
    Result result = solve(A, B, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.completeness.proven) << result.reason;
    const double size = std::max(std::abs(truth.front()), std::abs(truth.back()));
    const auto exact = between(truth, options.lower, options.upper);
    EXPECT_EQ(result.eigenvalues.size(), exact.size()) << result.reason;
    if (result.eigenvalues.size() != exact.size()) return result;
    for (std::size_t j = 0; j < exact.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], exact[j], result.error_bounds[j] + 1e-11 * size);
    }
    expect_vectors(A, B, result, size);
    return result;
  }

  void expect_vectors(const Matrix& A, const Matrix& B, const Result& result, double size) {
    const auto all = gather(*processes(), result.eigenvectors, alone_);
    if (!processes()->leads() || result.eigenvalues.empty()) return;
    const auto count = std::ssize(result.eigenvalues);
    const Eigen::MatrixXd X = to_dense<double>(all.view().columns(0, count));
    const Eigen::MatrixXd BX = B.rows() == 0 ? X : (to_dense(B.view()) * X).eval();
    const Eigen::Map<const Eigen::VectorXd> values(result.eigenvalues.data(), count);
    const Eigen::MatrixXd R = to_dense(A.view()) * X - BX * values.asDiagonal();
    EXPECT_LE(R.colwise().norm().cwiseQuotient(X.colwise().norm()).maxCoeff(), 1e-7 * size);
    const Eigen::MatrixXd gram = X.transpose() * BX;
    EXPECT_LE((gram - Eigen::MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff(), 1e-10);
  }

  Matrix diagonal(const std::vector<double>& values) {
    std::vector<Triplet<double>> entries;
    for (std::size_t i = 0; i < values.size(); ++i) {
      entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
    }
    const auto n = static_cast<Index>(values.size());
    return csr_from_triplets<double>(alone_, n, n, entries);
  }

  static bool has(const Result& result, const std::string& words) {
    return result.reason.find(words) != std::string::npos;
  }

  const Matrix none_{};
};

/// Of a cube, most eigenvalues have three or six copies.
TEST_F(DistributedSlices, OfACubeHaveAllTheirCopies) {
  const Matrix A = generate<double>(alone_, {"laplace3d", {9, 9, 9}});
  const std::vector<double> truth = cube_values(9);
  Index cycles = 0;
  const Result result = expect_all(A, none_, truth, interval(0, 4.1, 729));
  EXPECT_EQ(result.completeness.method, CompletenessMethod::inertia);
  for (int k = 1; k < processes()->size(); ++k) {  // each has a slice
    EXPECT_FALSE(has(result, "in " + std::to_string(k) + " slices")) << result.reason;
  }
  for (const IterationRecord& record : result.history) cycles = record.iteration;
  EXPECT_GT(result.iterations, cycles);  // those of all processes
}

TEST_F(DistributedSlices, OfASolidWithMass) {
  const Matrix A = generate<double>(alone_, {"elasticity3d", {4, 4, 5}});
  const Matrix B = generate<double>(alone_, {"elasticity3d_mass", {4, 4, 5}});
  const std::vector<double> truth = dense_values(A, B);
  expect_all(A, B, truth, interval(0, 0.5 * (truth[99] + truth[100]), 100));
  if (test::kSanitized) return;
  expect_all(A, B, truth, interval(-kInfinity, 0.5 * (truth[40] + truth[41]), 100));
}

/// Seams lie in the gaps between clusters, and next to a value with many copies.
TEST_F(DistributedSlices, ClustersAreFoundOnce) {
  std::vector<double> clusters, copies;
  for (int i = 0; i < 600; ++i) clusters.push_back(std::floor(i / 20.0) + 1e-7 * (i % 20));
  expect_all(diagonal(clusters), none_, clusters, interval(4.5, 15.5, 600));
  for (int i = 0; i < 600; ++i) copies.push_back(i < 150 ? 300.5 : i);
  std::sort(copies.begin(), copies.end());
  expect_all(diagonal(copies), none_, copies, interval(280.2, 320.2, 600));
}

TEST_F(DistributedSlices, OfValuesOfManySizes) {
  std::vector<double> values;
  for (int i = 0; i < 500; ++i) values.push_back(std::pow(10, i / 100.0));
  expect_all(diagonal(values), none_, values, interval(0.5, 4e4, 500));
}

/// Other problems with --gtest_random_seed.
TEST_F(DistributedSlices, OfRandomProblems) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int problem = 0; problem < 4; problem += test::kSanitized ? 2 : 1) {
    SCOPED_TRACE(problem);
    const Index n = 270 + static_cast<Index>(engine() % 100);
    const double coupling = problem % 2 == 0 ? 1 : 1e-6;  // clusters
    std::vector<Triplet<double>> A, B;
    for (Index i = 0; i < n; ++i) {
      A.push_back({i, i, std::floor(5 * uniform(engine)) + 0.5});
      B.push_back({i, i, 2 + uniform(engine)});
      const auto j = static_cast<Index>(engine() % static_cast<std::uint64_t>(n));
      const double value = coupling * uniform(engine);
      if (i != j) A.insert(A.end(), {{i, j, value}, {j, i, value}});
    }
    const Matrix a = csr_from_triplets<double>(alone_, n, n, A);
    const Matrix b = problem < 2 ? Matrix{} : csr_from_triplets<double>(alone_, n, n, B);
    const std::vector<double> truth = dense_values(a, b);
    const auto first = static_cast<std::size_t>(engine() % 80);
    const std::size_t last = first + 60 + engine() % 120;
    expect_all(a, b, truth, interval(truth[first] - 1e-3, truth[last] + 1e-3, n));
  }
}

/// The pairs are fewer than two per process, or none.
TEST_F(DistributedSlices, FewPairsAreFoundByOneProcess) {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(i);
  const Matrix A = diagonal(values);
  EXPECT_TRUE(has(expect_all(A, none_, values, interval(9.5, 12.5, 5)), "3 pairs in 1 slices"));
  expect_all(A, none_, values, interval(20.2, 20.8, 5));
  expect_all(A, none_, values, interval(400, kInfinity, 5));
}

TEST_F(DistributedSlices, SmallProblemsAreSolvedAsDenseOnes) {
  const Matrix A = generate<double>(alone_, {"elasticity3d", {2, 2, 3}});
  const Matrix B = generate<double>(alone_, {"elasticity3d_mass", {2, 2, 3}});
  const std::vector<double> truth = dense_values(A, B);
  const double end = 0.5 * (truth[11] + truth[12]);
  EXPECT_EQ(expect_all(A, B, truth, interval(0, end, 12)).completeness.method,
            CompletenessMethod::dense);
}

/// The pairs that all have found so far are those of the result.
TEST_F(DistributedSlices, AProcessThatStopsEndsAll) {
  const Matrix A = generate<double>(alone_, {"laplace3d", {11, 11, 11}});
  const bool last = processes()->rank() == processes()->size() - 1;
  const auto stop = [&](const MonitorState& state) { return !last || state.record.converged < 5; };
  const Result result = solve(A, none_, interval(0, 5, 1331), Monitor(stop));
  EXPECT_EQ(result.status, SolveStatus::interrupted) << result.reason;
  EXPECT_TRUE(has(result, "stopped on request")) << result.reason;
  EXPECT_FALSE(result.completeness.proven);
  EXPECT_GE(result.eigenvalues.size(), 20U);
  expect_vectors(A, none_, result, 12);
}

TEST_F(DistributedSlices, LimitsEndASolve) {
  const Matrix A = generate<double>(alone_, {"laplace3d", {9, 9, 9}});
  const Result crowded = solve(A, none_, interval(0, 4.1, 20));
  EXPECT_EQ(crowded.status, SolveStatus::max_iterations);
  EXPECT_TRUE(has(crowded, "more than nev = 20")) << crowded.reason;
  IntervalOptions options = interval(0, 4.1, 729);
  options.max_iterations = 1;
  EXPECT_EQ(solve(A, none_, options).status, SolveStatus::max_iterations);
  options.max_iterations = 1000;
  options.time_limit_s = processes()->rank() == 1 ? 1e-9 : kInfinity;  // on one of them
  const Result late = solve(A, none_, options);
  EXPECT_EQ(late.status, SolveStatus::time_limit);
  EXPECT_TRUE(late.eigenvalues.empty());
}

}  // namespace
}  // namespace heddle
