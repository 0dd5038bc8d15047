#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <deque>
#include <drivers/complex_support.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <numbers>
#include <support/dense.hpp>
#include <support/sanitized.hpp>

// Pairs inside the spectrum of Hermitian matrices and pencils, and counts, against dense solutions.
namespace heddle {
namespace {

using Dense = Eigen::MatrixXcd;
using test::generated_complex;

struct Case {
  std::string name;
  ComplexMatrix A;
  std::optional<ComplexMatrix> B{};

  ComplexProblem problem() const { return {.A = A, .B = B}; }
};

std::vector<Case> cases() {
  std::vector<Case> all = {
      {"haldane", generated_complex("haldane", {7, 6})},
      {"peierls2d", generated_complex("peierls2d", {12, 9}, 0.25)},
      {"random_flux3d", generated_complex("random_flux3d", {5, 4, 4})},
      {"pencil", generated_complex("peierls2d", {10, 8}, 0.2),
       generated_complex("random_hermitian", {80}, 5)},
      {"real mass", generated_complex("haldane", {5, 8}), generated_complex("laplace2d", {8, 10})}};
  if (test::kSanitized) all.resize(2);
  return all;
}

/// A dense problem with its pairs.
struct Truth {
  explicit Truth(const Case& problem)
      : A(test::to_dense(problem.A.view())),
        B(problem.B ? test::to_dense(problem.B->view())
                    : Dense(Dense::Identity(A.rows(), A.cols()))),
        values(Eigen::GeneralizedSelfAdjointEigenSolver<Dense>(A, B).eigenvalues()) {}

  /// The values in [lower, upper], ascending.
  std::vector<double> between(double lower, double upper) const {
    std::vector<double> inside;
    for (const double value : values) {
      if (value >= lower && value <= upper) inside.push_back(value);
    }
    return inside;
  }

  /// The middle of the first gap above value i.
  double gap_from(Index i) const {
    while (values(i + 1) - values(i) < 1e-6) ++i;
    return 0.5 * (values(i) + values(i + 1));
  }

  /// The `count` values nearest to σ among those on the side, ascending.
  std::vector<double> nearest(double sigma, Side side, std::size_t count) const {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    std::vector<double> found =
        between(side == Side::above ? sigma : -kFar, side == Side::below ? sigma : kFar);
    std::sort(found.begin(), found.end(),
              [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
    found.resize(std::min(count, found.size()));
    std::sort(found.begin(), found.end());
    return found;
  }

  Dense A, B;
  Eigen::VectorXd values;
};

/// Checks values, residuals and B-orthonormal vectors.
void expect_pairs(const Solution& solution, const Truth& truth, const std::vector<double>& values) {
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  ASSERT_EQ(solution.eigenvalues.size(), values.size()) << solution.reason;
  const double scale = truth.values.cwiseAbs().maxCoeff();
  std::vector<std::size_t> order(values.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return solution.eigenvalues[i] < solution.eigenvalues[j];
  });
  const Dense X = test::to_dense_block(std::get<ComplexBlock>(solution.vectors))
                      .leftCols(static_cast<Index>(solution.count()));
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double value = solution.eigenvalues[order[k]];
    EXPECT_LE(std::abs(value - values[k]), solution.error_bounds[order[k]] + 1e-13 * scale);
    EXPECT_LE(solution.error_bounds[order[k]], 1e-6 * scale);
    const Eigen::VectorXcd x = X.col(static_cast<Index>(order[k]));
    EXPECT_LE((truth.A * x - value * (truth.B * x)).norm(), 1e-6 * scale * x.norm());
  }
  const Dense gram = X.adjoint() * truth.B * X;
  EXPECT_LE((gram - Dense::Identity(X.cols(), X.cols())).cwiseAbs().maxCoeff(), 1e-10);
}

TEST(ComplexInside, PairsNearestToANumber) {
  for (const Case& each : cases()) {
    const Truth truth(each);
    const double middle = truth.values(truth.values.size() / 2) + 1e-3;
    for (const Side side : {Side::both, Side::above, Side::below}) {
      SCOPED_TRACE(each.name + " " + std::to_string(static_cast<int>(side)));
      const Solution solution = solve(each.problem(), {.nev = 5, .sigma = middle, .side = side});
      expect_pairs(solution, truth, truth.nearest(middle, side, 5));
      EXPECT_TRUE(solution.completeness.proven);
    }
  }
}

TEST(ComplexInside, AllPairsOfAnInterval) {
  for (const Case& each : cases()) {
    const Truth truth(each);
    const Index n = truth.values.size();
    const double lower = truth.gap_from(n / 4), upper = truth.gap_from(n / 4 + 9);
    for (const LanczosFilter filter :
         {LanczosFilter::automatic, LanczosFilter::inverse, LanczosFilter::chebyshev}) {
      if (filter == LanczosFilter::chebyshev && each.B) continue;  // polynomials take no mass
      SCOPED_TRACE(each.name + " " + std::to_string(static_cast<int>(filter)));
      const Solution solution =
          solve(each.problem(), {.interval = RealInterval{lower, upper}, .filter = filter});
      expect_pairs(solution, truth, truth.between(lower, upper));
    }
  }
}

/// Two rings with the same flux, which have each eigenvalue twice.
Case two_rings(Index n) {
  const ComplexMatrix ring = generated_complex("ring_flux", {n}, 0.3);
  const auto view = ring.view();
  struct Arrays {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns{};
    std::vector<test::Complex> values{};
  };
  static std::deque<Arrays> kept;  // the matrix refers to them
  auto& [offsets, columns, values] = kept.emplace_back();
  for (const Index copy : {Index{0}, n}) {
    for (Index i = 0; i < n; ++i) {
      for (auto k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
        columns.push_back(static_cast<std::int32_t>(view.columns[k] + copy));
        values.push_back(view.values[k]);
      }
      offsets.push_back(std::ssize(columns));
    }
  }
  return {"rings", ComplexMatrix(2 * n, 2 * n, offsets, columns, values)};
}

TEST(ComplexInside, MultipleValuesAndShiftsAtOne) {
  const Case twice = two_rings(60);
  const Truth truth(twice);
  const double value = truth.values(40);
  const std::vector<double> nearest = truth.nearest(value, Side::both, 6);
  const Solution solution = solve(twice.problem(), {.nev = 6, .sigma = value});
  expect_pairs(solution, truth, nearest);
}

/// Three copies lie at an end, and rounding allows no smaller residuals than the tolerance asks
/// for.
TEST(ComplexInside, CopiesAtAnEndOfAnInterval) {
  HEDDLE_SKIP_WITH_SANITIZER();
  const Case lattice{"haldane", generated_complex("haldane", {12, 12})};
  const Truth truth(lattice);
  const Solution solution =
      solve(lattice.problem(), {.interval = RealInterval{1, 1.2}, .tolerance = 1e-14});
  expect_pairs(solution, truth, truth.between(1 - 1e-12, 1.2));
  EXPECT_TRUE(solution.completeness.proven);
}

TEST(ComplexInside, ConstrainedPairs) {
  const Case lattice{"peierls2d", generated_complex("peierls2d", {9, 8}, 0.2)};
  const Truth truth(lattice);
  const Eigen::SelfAdjointEigenSolver<Dense> eigen(truth.A);
  const Index held = 30;
  const double sigma = truth.values(held) + 1e-4;
  const auto constraint = [&](Index i, Index) { return eigen.eigenvectors()(i, held); };
  const ComplexProblem problem{.A = lattice.A, .constraints = test::block_of(72, 1, constraint)};
  const Solution solution = solve(problem, {.nev = 4, .sigma = sigma});
  std::vector<double> expected = truth.nearest(sigma, Side::both, 5);
  expected.erase(std::find(expected.begin(), expected.end(), truth.values(held)));
  expect_pairs(solution, truth, expected);
}

/// With one constraint, one copy of σ is left. A − σI is nearly singular in its direction, too.
TEST(ComplexInside, ConstraintsWhereCopiesAreLeft) {
  const Index n = 30;
  const Case twice = two_rings(n);
  const Truth truth(twice);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const ComplexBlock Y = test::filled_block(
        2 * n, 1, [&](HostContext& context, BlockView<test::Complex, HostSpace> X) {
          fill_random<test::Complex>(context, seed, 0, X);
        });
    const Dense given = test::to_dense_block(Y);
    const Dense basis = Dense(given.householderQr().householderQ()).rightCols(2 * n - 1);
    const Eigen::VectorXd exact =
        Eigen::SelfAdjointEigenSolver<Dense>(basis.adjoint() * truth.A * basis).eigenvalues();
    const ComplexProblem problem{.A = twice.A, .constraints = Y};
    const Solution solution =
        solve(problem, {.nev = 4, .sigma = truth.values(n), .tolerance = 1e-6});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    const Dense X = test::to_dense_block(std::get<ComplexBlock>(solution.vectors)).leftCols(4);
    EXPECT_LE((given.adjoint() * X).cwiseAbs().maxCoeff(), 1e-10 * given.norm()) << seed;
    for (std::size_t k = 0; k < 4; ++k) {
      const double error = (exact.array() - solution.eigenvalues[k]).abs().minCoeff();
      EXPECT_LE(error, solution.error_bounds[k] + 1e-12) << seed;
    }
  }
}

TEST(ComplexInside, EndsAreCounted) {
  for (const Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const Truth truth(each);
    const Solution solution = solve(each.problem(), {.nev = 4, .certify = Certify::inertia});
    expect_pairs(solution, truth,
                 {truth.values(0), truth.values(1), truth.values(2), truth.values(3)});
    EXPECT_TRUE(solution.completeness.proven) << solution.reason;
  }
}

}  // namespace
}  // namespace heddle
