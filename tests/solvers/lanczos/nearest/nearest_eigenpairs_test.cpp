#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/factor_libraries.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/decompositions.hpp"
#include "support/dense.hpp"
#include "support/sanitized.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::to_dense;
using Matrix = HostCsrMatrix<double>;

/// A with random numbers in [−width/2, width/2] added to its diagonal, as in Anderson's model of a
/// disordered crystal.
Matrix disordered(Matrix A, double width) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> disorder(-width / 2, width / 2);
  for (Index i = 0; i < A.rows(); ++i) {
    for (std::int64_t k = A.row_offsets()[i]; k < A.row_offsets()[i + 1]; ++k) {
      if (A.columns()[k] == i) A.values()[k] += disorder(engine);
    }
  }
  return A;
}

Matrix diagonal(HostContext& context, const std::vector<double>& values) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < values.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
  }
  const auto n = static_cast<Index>(values.size());
  return csr_from_triplets<double>(context, n, n, entries);
}

/// A problem with its eigenvalues by a dense solve.
struct Pencil {
  Matrix A, B;  // B may be empty
  std::vector<double> truth;

  Pencil(Matrix a, Matrix b = {}) : A(std::move(a)), B(std::move(b)) {
    const Eigen::MatrixXd dense = to_dense(A.view());
    Eigen::VectorXd values;
    if (B.rows() == 0) {
      values = test::eigenvalues(dense);
    } else {
      values = test::eigenvalues(dense, to_dense(B.view()));
    }
    truth.assign(values.data(), values.data() + values.size());
  }

  double at(double part) const {
    return truth[static_cast<std::size_t>(part * static_cast<double>(truth.size() - 1))];
  }
  double size() const { return std::max(std::abs(truth.front()), std::abs(truth.back())); }

  /// The values that `options` ask for, ascending.
  std::vector<double> nearest(const NearestOptions& options) const {
    std::vector<double> values;
    for (const double each : truth) {
      const double beyond = 1e-10 * size();
      if (each < options.lower - beyond || each > options.upper + beyond) continue;
      values.push_back(each);
    }
    std::sort(values.begin(), values.end(), [&](double a, double b) {
      return std::abs(a - options.sigma) < std::abs(b - options.sigma);
    });
    values.resize(std::min(values.size(), static_cast<std::size_t>(options.nev)));
    std::sort(values.begin(), values.end());
    return values;
  }
};

class NearestEigenpairs : public testing::Test {
 protected:
  EigenResult<double, HostSpace> solve(const Pencil& pencil, const NearestOptions& options) {
    SparseOperator<double, HostContext> A(context_, pencil.A.view());
    std::optional<SparseOperator<double, HostContext>> B;
    if (pencil.B.rows() > 0) B.emplace(context_, pencil.B.view());
    IndefiniteInverse<double, HostContext> inverse(pencil.A.view(), pencil.B.view());
    EigenProblem<double, HostContext> problem;
    problem.A = &A;
    problem.B = B ? &*B : nullptr;
    return nearest_eigenpairs<double, HostContext>(context_, problem, inverse, options);
  }

  /// Solves and compares values, residuals and the proof with a dense solve. Of two values on both
  /// sides of σ that are as far from it to rounding, either may be the last one.
  void expect_nearest(const Pencil& pencil, const NearestOptions& options) {
    const auto result = solve(pencil, options);
    const auto where = "sigma " + std::to_string(options.sigma) + ", " + result.reason;
    ASSERT_EQ(result.status, SolveStatus::converged) << where;
    // Without pivots, the ends of a count may find no gap in which a factor is certain.
    EXPECT_TRUE(result.completeness.proven || !detail::indefinite_library().pivots) << where;
    const std::vector<double> truth = pencil.nearest(options);
    ASSERT_EQ(result.eigenvalues.size(), truth.size()) << where;
    EXPECT_TRUE(std::is_sorted(result.eigenvalues.begin(), result.eigenvalues.end()));
    std::vector<double> distances, expected;
    for (std::size_t j = 0; j < truth.size(); ++j) {
      distances.push_back(std::abs(result.eigenvalues[j] - options.sigma));
      expected.push_back(std::abs(truth[j] - options.sigma));
    }
    std::sort(distances.begin(), distances.end());
    std::sort(expected.begin(), expected.end());
    for (std::size_t j = 0; j < truth.size(); ++j) {
      // In a cluster that is narrower than the tolerance asked for, any of its values will do.
      EXPECT_NEAR(distances[j], expected[j], 1e-8 * pencil.size()) << where;
      double error = pencil.size();
      for (const double each : pencil.truth) {
        error = std::min(error, std::abs(each - result.eigenvalues[j]));
      }
      EXPECT_LE(error, result.error_bounds[j] + 1e-11 * pencil.size()) << where;
      EXPECT_LE(result.residuals[j], 1e-8) << where;
    }
    if (truth.empty()) return;
    const Eigen::MatrixXd X =
        to_dense<double>(std::as_const(result.eigenvectors).view().columns(0, std::ssize(truth)));
    const Eigen::MatrixXd BX = pencil.B.rows() == 0 ? X : (to_dense(pencil.B.view()) * X).eval();
    const Eigen::MatrixXd gram = X.transpose() * BX;
    EXPECT_LE((gram - Eigen::MatrixXd::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff(),
              1e-9)
        << where;
  }

  /// All places of σ that matter: in gaps, on eigenvalues and just beside them, beyond the ends.
  void expect_everywhere(const Pencil& pencil, Index nev) {
    const double span = pencil.truth.back() - pencil.truth.front();
    for (const double part : {0.0, 0.13, 0.5, 0.77, 1.0}) {
      const double on = pencil.at(part);
      for (const double sigma : {on, on + 1e-7 * span, on - 3e-3 * span}) {
        for (const Side side : {Side::both, Side::above, Side::below}) {
          NearestOptions options;
          options.nev = nev;
          options.sigma = sigma;
          options.limit_to(side);
          expect_nearest(pencil, options);
        }
      }
    }
    NearestOptions beyond;
    beyond.nev = nev;
    for (const double sigma : {pencil.truth.front() - span, pencil.truth.back() + 0.1 * span}) {
      beyond.sigma = sigma;
      expect_nearest(pencil, beyond);
    }
  }

  HostContext context_;
};

TEST_F(NearestEigenpairs, OfADisorderedCrystal) {
  const Pencil crystal(disordered(generate<double>(context_, {"laplace3d", {8, 7, 6}}), 16));
  expect_everywhere(crystal, 7);
}

TEST_F(NearestEigenpairs, OfAGridWithMultipleEigenvalues) {
  expect_everywhere(Pencil(generate<double>(context_, {"laplace2d", {18, 18}})), 9);
}

TEST_F(NearestEigenpairs, OfASolidWithMass) {
  HEDDLE_SKIP_WITH_SANITIZER();
  expect_everywhere(Pencil(generate<double>(context_, {"elasticity3d", {4, 4, 5}}),
                           generate<double>(context_, {"elasticity3d_mass", {4, 4, 5}})),
                    8);
}

TEST_F(NearestEigenpairs, OfAnIndefiniteMatrixWithMass) {
  expect_everywhere(Pencil(disordered(generate<double>(context_, {"elasticity3d", {4, 4, 5}}), 1e3),
                           generate<double>(context_, {"elasticity3d_mass", {4, 4, 5}})),
                    8);
}

/// 40 copies of a value, five times as many as a block has columns: only the count tells how many
/// there are.
TEST_F(NearestEigenpairs, MoreCopiesThanABlockHasColumnsAreAllFound) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i < 40 ? 100.25 : i);
  const Pencil pencil(diagonal(context_, values));
  NearestOptions options;
  options.sigma = 100.4;
  options.nev = 44;
  expect_nearest(pencil, options);
  options.nev = 3;  // of copies that are as near as each other any will do
  expect_nearest(pencil, options);
  options.sigma = 100.25;
  options.nev = 42;
  expect_nearest(pencil, options);
}

/// A random problem: sparse with entries in few places per row, perhaps with clusters of values,
/// rows of several sizes, and a mass.
Pencil random_pencil(HostContext& context, std::mt19937_64& engine) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto pick = [&](Index count) {
    return static_cast<Index>(engine() % static_cast<std::uint64_t>(count));
  };
  const Index n = 260 + pick(120);
  const bool clusters = pick(3) == 0;
  const double grade = pick(3) == 0 ? 4 : 0;  // decades
  const double coupling = clusters ? 1e-7 : 1;
  std::vector<double> sizes;
  for (Index i = 0; i < n; ++i) sizes.push_back(std::pow(10, 0.5 * grade * uniform(engine)));
  std::vector<Triplet<double>> A, B;
  const auto add = [&](std::vector<Triplet<double>>& M, Index i, Index j, double value) {
    const double scaled =
        value * sizes[static_cast<std::size_t>(i)] * sizes[static_cast<std::size_t>(j)];
    M.push_back({i, j, scaled});
    if (i != j) M.push_back({j, i, scaled});
  };
  for (Index i = 0; i < n; ++i) {
    add(A, i, i, clusters ? static_cast<double>(pick(9)) - 4 : 3 * uniform(engine));
    for (int k = 0; k < 3; ++k) {
      if (const Index j = pick(n); j != i) add(A, i, j, coupling * uniform(engine));
    }
  }
  if (pick(2) == 0) return Pencil(csr_from_triplets<double>(context, n, n, A));
  for (Index i = 0; i < n; ++i) {
    add(B, i, i, 2 + uniform(engine));
    if (i > 0) add(B, i, i - 1, 0.4 * uniform(engine));
  }
  return Pencil(csr_from_triplets<double>(context, n, n, A),
                csr_from_triplets<double>(context, n, n, B));
}

/// Other problems with --gtest_random_seed.
TEST_F(NearestEigenpairs, OfRandomProblems) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)));
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int problem = 0; problem < (test::kSanitized ? 3 : 12); ++problem) {
    SCOPED_TRACE(problem);
    const Pencil pencil = random_pencil(context_, engine);
    const double span = pencil.truth.back() - pencil.truth.front();
    for (int place = 0; place < 4; ++place) {
      NearestOptions options;
      options.nev = 1 + static_cast<Index>(engine() % 12);
      const auto side = static_cast<Side>(engine() % 3);
      const double on = pencil.at(uniform(engine));
      const double places[] = {on, on + 1e-3 * span * uniform(engine),
                               pencil.truth.front() + span * uniform(engine),
                               pencil.truth.back() + span * uniform(engine)};
      options.sigma = places[place];
      options.limit_to(side);
      expect_nearest(pencil, options);
    }
  }
}

TEST_F(NearestEigenpairs, AShiftThatMovesSaysSo) {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(i);
  NearestOptions options;
  options.sigma = 150;
  options.nev = 3;
  const auto result = solve(Pencil(diagonal(context_, values)), options);
  EXPECT_EQ(result.status, SolveStatus::converged);
  EXPECT_NE(result.reason.find("instead"), std::string::npos) << result.reason;
  EXPECT_EQ(result.completeness.method, CompletenessMethod::inertia);
  EXPECT_TRUE(result.completeness.proven);
  options.sigma = 150.3;
  EXPECT_EQ(solve(Pencil(diagonal(context_, values)), options).reason.find("instead"),
            std::string::npos);
}

TEST_F(NearestEigenpairs, ASideWithFewerValuesHasAllOfThem) {
  std::vector<double> values;
  for (int i = 0; i < 300; ++i) values.push_back(i);
  const Pencil pencil(diagonal(context_, values));
  NearestOptions options;
  options.nev = 5;
  options.sigma = 296.5;
  options.limit_to(Side::above);
  expect_nearest(pencil, options);
  options.sigma = 400;
  options.limit_to(Side::above);
  const auto none = solve(pencil, options);
  EXPECT_EQ(none.status, SolveStatus::converged);
  EXPECT_TRUE(none.eigenvalues.empty());
  EXPECT_TRUE(none.completeness.proven);
}

TEST_F(NearestEigenpairs, SmallProblemsAreSolvedAsDenseOnes) {
  const Pencil small(disordered(generate<double>(context_, {"laplace2d", {9, 10}}), 3));
  expect_everywhere(small, 6);
  NearestOptions options;
  options.sigma = small.at(0.5);
  const auto result = solve(small, options);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_NE(result.reason.find("dense"), std::string::npos) << result.reason;
}

/// Unknowns without mass: eigenvalues are infinite as often, and the finite ones those of the
/// matrix without these unknowns.
TEST_F(NearestEigenpairs, OfAPencilWithASemidefiniteMass) {
  const auto A = generate<double>(context_, {"laplace2d", {20, 17}});
  std::vector<double> mass;
  for (Index i = 0; i < A.rows(); ++i) mass.push_back(i % 4 == 0 ? 0 : 1 + 0.01 * double(i % 7));
  const Eigen::MatrixXd dense = to_dense(A.view());
  const Eigen::MatrixXd B = to_dense(diagonal(context_, mass).view());
  // 1/λ are the eigenvalues of B x = (1/λ) A x.
  const Eigen::VectorXd inverse = test::eigenvalues(B, dense);
  std::vector<double> truth;
  for (Eigen::Index i = inverse.size() - 1; i >= 0 && inverse[i] > 1e-8; --i) {
    truth.push_back(1 / inverse[i]);
  }
  Pencil pencil{generate<double>(context_, {"laplace2d", {9, 9}})};
  pencil.A = generate<double>(context_, {"laplace2d", {20, 17}});
  pencil.B = diagonal(context_, mass);
  pencil.truth = truth;
  for (const double part : {0.1, 0.4, 0.8}) {
    NearestOptions options;
    options.nev = 6;
    options.sigma = 0.3 * pencil.at(part) + 0.7 * pencil.at(part + 0.01);
    expect_nearest(pencil, options);
  }
}

TEST_F(NearestEigenpairs, MisuseThrows) {
  const Pencil pencil(generate<double>(context_, {"laplace2d", {5, 5}}));
  NearestOptions options;
  options.nev = 26;
  EXPECT_THROW(solve(pencil, options), InvalidArgument);
  options.nev = 2;
  options.sigma = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve(pencil, options), InvalidArgument);
}

}  // namespace
}  // namespace heddle
