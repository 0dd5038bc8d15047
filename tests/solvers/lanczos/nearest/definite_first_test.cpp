#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "support/decompositions.hpp"
#include "support/dense.hpp"

/// Pencils A x = λ B x with a definite A and any symmetric B, as in buckling.
namespace heddle {
namespace {

using test::to_dense;
using Matrix = HostCsrMatrix<double>;

Matrix diagonal(HostContext& context, const std::vector<double>& values) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < values.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), values[i]});
  }
  const auto n = static_cast<Index>(values.size());
  return csr_from_triplets<double>(context, n, n, entries);
}

std::vector<double> random_numbers(Index n, double low, double high) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> numbers(low, high);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (double& each : values) each = numbers(engine);
  return values;
}

/// The `nev` values of `all` nearest to sigma on its side, by size.
std::vector<double> wanted(std::vector<double> all, const NearestOptions& options) {
  std::erase_if(all, [&](double each) { return each < options.lower || each > options.upper; });
  std::sort(all.begin(), all.end(), [&](double a, double b) {
    return std::abs(a - options.sigma) < std::abs(b - options.sigma);
  });
  all.resize(std::min(all.size(), static_cast<std::size_t>(options.nev)));
  std::sort(all.begin(), all.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  return all;
}

NearestOptions options_for(Index nev, double sigma, Side side) {
  NearestOptions options;
  options.nev = nev;
  options.sigma = sigma;
  options.definite = Definite::A;
  options.limit_to(side);
  return options;
}

class DefiniteFirst : public testing::Test {
 protected:
  EigenResult<double, HostSpace> solve(const Matrix& A, const Matrix& B,
                                       const NearestOptions& options) {
    SparseOperator<double, HostContext> of_A(context_, A.view()), of_B(context_, B.view());
    IndefiniteInverse<double, HostContext> inverse(A.view(), B.view());
    EigenProblem<double, HostContext> problem;
    problem.A = &of_A;
    problem.B = &of_B;
    return nearest_eigenpairs<double, HostContext>(context_, problem, inverse, options);
  }

  /// 1/ν of B x = ν A x by a dense solve.
  static std::vector<double> truth(const Matrix& A, const Matrix& B) {
    const Eigen::VectorXd values = test::eigenvalues(to_dense(B.view()), to_dense(A.view()));
    std::vector<double> reciprocals;
    for (const double value : values) {
      if (std::abs(value) > 1e-9 * values.cwiseAbs().maxCoeff()) reciprocals.push_back(1 / value);
    }
    return reciprocals;
  }

  void expect_pairs(const Matrix& A, const Matrix& B, const std::vector<double>& expected,
                    const NearestOptions& options) {
    const auto result = solve(A, B, options);
    const auto where = "sigma " + std::to_string(options.sigma) + ", " + result.reason;
    ASSERT_EQ(result.status, SolveStatus::converged) << where;
    EXPECT_TRUE(result.completeness.proven) << where;
    ASSERT_EQ(result.eigenvalues.size(), expected.size()) << where;
    const auto count = static_cast<Eigen::Index>(expected.size());
    const Eigen::MatrixXd X =
        to_dense<double>(std::as_const(result.eigenvectors).view().columns(0, count));
    const Eigen::MatrixXd dense_A = to_dense(A.view()), dense_B = to_dense(B.view());
    const Eigen::MatrixXd gram = X.transpose() * dense_A * X;
    EXPECT_LE((gram - Eigen::MatrixXd::Identity(count, count)).cwiseAbs().maxCoeff(), 1e-9);
    for (Eigen::Index j = 0; j < count; ++j) {
      const auto place = static_cast<std::size_t>(j);
      const double lambda = result.eigenvalues[place];
      EXPECT_NEAR(lambda, expected[place], 1e-9 * std::abs(expected[place])) << where;
      EXPECT_LE(std::abs(lambda - expected[place]),
                result.error_bounds[place] + 1e-11 * std::abs(lambda))
          << where;
      EXPECT_LE(result.error_bounds[place], 1e-7 * std::abs(lambda)) << where;
      const Eigen::VectorXd x = X.col(j);
      const double residual = (dense_A * x - lambda * (dense_B * x)).norm();
      const double scale = dense_A.cwiseAbs().colwise().sum().maxCoeff() +
                           std::abs(lambda) * dense_B.cwiseAbs().colwise().sum().maxCoeff();
      EXPECT_LE(residual, 1e-8 * scale * x.norm()) << where;
      EXPECT_NEAR(result.residuals[place], residual / scale / x.norm(), 1e-12) << where;
    }
  }

  HostContext context_{2};
};

TEST_F(DefiniteFirst, PairsNearZeroAndNearOtherNumbersOfAnIndefiniteB) {
  for (const Index side : {10, 20}) {  // a dense solve, and an iteration
    const Matrix A = generate<double>(context_, {"laplace2d", {side, side}});
    const Matrix B = diagonal(context_, random_numbers(side * side, -1, 1));
    const std::vector<double> all = truth(A, B);
    std::vector<double> positive;
    std::copy_if(all.begin(), all.end(), std::back_inserter(positive),
                 [](double each) { return each > 0; });
    std::sort(positive.begin(), positive.end());
    const double inside = 0.4 * positive[4] + 0.6 * positive[5];
    for (const double sigma : {0.0, inside, -1.1 * inside}) {
      for (const Side wanted_side : {Side::above, Side::both, Side::below}) {
        const NearestOptions options = options_for(6, sigma, wanted_side);
        expect_pairs(A, B, wanted(all, options), options);
      }
    }
  }
}

/// The pencil of a discrete Laplacian and the identity, with pairs of equal values.
TEST_F(DefiniteFirst, CopiesAreFoundAsForAnyPencil) {
  const Index n = 20;
  const Matrix A = generate<double>(context_, {"laplace2d", {n, n}});
  const Matrix B = diagonal(context_, std::vector<double>(static_cast<std::size_t>(n * n), 1));
  std::vector<double> all;
  for (Index i = 1; i <= n; ++i) {
    for (Index j = 1; j <= n; ++j) {
      const auto part = [&](Index k) {
        const double sine =
            std::sin(std::numbers::pi * static_cast<double>(k) / (2 * static_cast<double>(n + 1)));
        return 4 * sine * sine;
      };
      all.push_back(part(i) + part(j));
    }
  }
  for (const Index nev : {1, 3, 6, 20}) {
    const NearestOptions options = options_for(nev, 0, Side::above);
    expect_pairs(A, B, wanted(all, options), options);
  }
}

/// Few of the values are positive and finite: B has a null space, which stands for infinite ones.
TEST_F(DefiniteFirst, FewerPairsThanWantedAreCounted) {
  for (const Index n : {60, 400}) {
    std::vector<double> values(static_cast<std::size_t>(n), 0);
    for (const std::size_t i : {3U, 17U, 42U}) values[i] = 1.5;
    for (const std::size_t i : {5U, 6U, 7U, 30U, 31U}) values[i] = -0.5;
    const Matrix A = generate<double>(context_, {"laplace1d", {n}});
    const Matrix B = diagonal(context_, values);
    const std::vector<double> all = truth(A, B);
    ASSERT_EQ(all.size(), 8U);
    for (const Side side : {Side::above, Side::both, Side::below}) {
      const NearestOptions options = options_for(12, 0, side);
      const std::vector<double> expected = wanted(all, options);
      expect_pairs(A, B, expected, options);
      EXPECT_NE(solve(A, B, options)
                    .reason.find(std::to_string(expected.size()) +
                                 " finite eigenvalues lie on this side of sigma, "
                                 "12 were wanted"),
                std::string::npos);
    }
  }
}

TEST_F(DefiniteFirst, NoneIsPositiveWhereBIsNegativeSemidefinite) {
  for (const Index n : {60, 400}) {
    std::vector<double> values = random_numbers(n, -1, -0.5);
    values[3] = 0;
    const Matrix A = generate<double>(context_, {"laplace1d", {n}});
    const auto result = solve(A, diagonal(context_, values), options_for(4, 0, Side::above));
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.eigenvalues.empty());
    EXPECT_TRUE(result.completeness.proven);
    EXPECT_NE(result.reason.find("0 finite eigenvalues lie on this side of sigma, 4 were wanted"),
              std::string::npos)
        << result.reason;
  }
}

TEST_F(DefiniteFirst, AnAThatIsNotPositiveDefiniteIsRefused) {
  for (const Index n : {60, 400}) {
    const Matrix B = diagonal(context_, random_numbers(n, -1, 1));
    Matrix free = generate<double>(context_, {"laplace1d", {n}});  // a chain that is held nowhere
    free.values()[0] = 1;
    free.values()[free.nnz() - 1] = 1;
    const auto moves = solve(free, B, options_for(4, 0, Side::above));
    EXPECT_EQ(moves.status, SolveStatus::indefinite);
    EXPECT_NE(moves.reason.find("A is not positive definite: it is singular to rounding"),
              std::string::npos)
        << moves.reason;
    std::vector<double> signs(static_cast<std::size_t>(n), 1);
    signs[7] = signs[9] = -1;
    const auto indefinite = solve(diagonal(context_, signs), B, options_for(4, 0, Side::above));
    EXPECT_EQ(indefinite.status, SolveStatus::indefinite);
    EXPECT_NE(indefinite.reason.find("it has 2 negative eigenvalues"), std::string::npos)
        << indefinite.reason;
  }
}

/// Load factors of n elements along a pinned column in closed form: modes are sines, which leave a
/// quadratic equation for each.
std::vector<double> column_load_factors(Index n, Index count) {
  std::vector<double> factors;
  for (Index k = 1; k <= count; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    const double sine = std::sin(angle / 2), c = std::cos(angle);
    const double a = (3 - c) / 5, b = 20.8 + 3.2 * c, d = 96 * sine * sine;
    const double root = 2 * d / (b + std::sqrt(b * b - 4 * a * d));
    factors.push_back(root * static_cast<double>(n * n));
  }
  return factors;
}

/// A simply supported plate of unit squares, compressed along x and stretched along y. With the
/// chains X and Y of second differences, (X + Y)² u = λ (X − Y) u has λ = (μ + ν)²/(μ − ν), of both
/// signs. Waves that are as short along x as along y have an infinite one.
TEST_F(DefiniteFirst, APlateInCompressionAndTensionHasLoadFactorsOfBothSigns) {
  const auto chain = [](Index i, Index j) {
    return i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0;
  };
  const auto square = [&](Index i, Index j, Index n) {
    double sum = 0;
    for (Index k = 0; k < n; ++k) sum += chain(i, k) * chain(k, j);
    return sum;
  };
  for (const auto& [nx, ny] : {std::pair<Index, Index>{12, 10}, {21, 17}}) {
    std::vector<Triplet<double>> of_A, of_B;
    for (Index p = 0; p < nx * ny; ++p) {
      for (Index q = 0; q < nx * ny; ++q) {
        const Index i = p / ny, j = p % ny, k = q / ny, l = q % ny;
        const double same_x = i == k ? 1 : 0, same_y = j == l ? 1 : 0;
        const double a =
            same_y * square(i, k, nx) + 2 * chain(i, k) * chain(j, l) + same_x * square(j, l, ny);
        const double b = same_y * chain(i, k) - same_x * chain(j, l);
        if (a != 0) of_A.push_back({p, q, a});
        if (b != 0) of_B.push_back({p, q, b});
      }
    }
    const Matrix A = csr_from_triplets<double>(context_, nx * ny, nx * ny, of_A);
    const Matrix B = csr_from_triplets<double>(context_, nx * ny, nx * ny, of_B);
    const auto mu = [](Index i, Index n) {
      return 4 *
             std::pow(std::sin(M_PI_2 * static_cast<double>(i) / static_cast<double>(n + 1)), 2);
    };
    std::vector<double> all;
    for (Index i = 1; i <= nx; ++i) {
      for (Index j = 1; j <= ny; ++j) {
        const double difference = mu(i, nx) - mu(j, ny);
        if (std::abs(difference) < 1e-12) continue;
        all.push_back(std::pow(mu(i, nx) + mu(j, ny), 2) / difference);
      }
    }
    for (const Side side : {Side::above, Side::both, Side::below}) {
      for (const double sigma : {0.0, 3.1, -2.3}) {
        const NearestOptions options = options_for(7, sigma, side);
        expect_pairs(A, B, wanted(all, options), options);
      }
    }
  }
}

/// The condition number of the stiffness grows with the fourth power of the number of elements, and
/// with it the rounding errors of a Rayleigh quotient. The bounds say how far.
TEST_F(DefiniteFirst, ColumnsHaveTheirLoadFactorsWithinTheBounds) {
  for (const Index n : {16, 64, 256}) {
    const Matrix K = generate<double>(context_, {"column", {n}});
    Matrix B = generate<double>(context_, {"column_geometric", {n}});
    for (Index k = 0; k < B.nnz(); ++k) B.values()[k] = -B.values()[k];
    const auto result = solve(K, B, options_for(5, 0, Side::above));
    ASSERT_EQ(result.status, SolveStatus::converged) << n << ", " << result.reason;
    EXPECT_TRUE(result.completeness.proven) << n;
    const std::vector<double> expected = column_load_factors(n, 5);
    const double allowed = 1e-15 * std::pow(static_cast<double>(n), 4);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      const double error = std::abs(result.eigenvalues[j] - expected[j]);
      EXPECT_LE(error, result.error_bounds[j] + 1e-14 * expected[j]) << n << ", " << j;
      EXPECT_LE(error, std::max(allowed, 1e-12) * expected[j]) << n << ", " << j;
      EXPECT_LE(result.error_bounds[j], std::max(10 * allowed, 1e-9) * expected[j])
          << n << ", " << j;
    }
  }
}

/// The lowest modes of a stiff column are as small as rounding of K in single precision. K is
/// definite nevertheless, and its dense solve leaves out no direction.
TEST_F(DefiniteFirst, AColumnInSinglePrecisionHasAllItsModes) {
  const Index n = 24;
  const auto K = generate<float>(context_, {"column", {n}});
  auto B = generate<float>(context_, {"column_geometric", {n}});
  for (Index k = 0; k < B.nnz(); ++k) B.values()[k] = -B.values()[k];
  SparseOperator<float, HostContext> of_K(context_, K.view()), of_B(context_, B.view());
  IndefiniteInverse<float, HostContext> inverse(K.view(), B.view());
  EigenProblem<float, HostContext> problem;
  problem.A = &of_K;
  problem.B = &of_B;
  const auto result = nearest_eigenpairs<float, HostContext>(context_, problem, inverse,
                                                             options_for(3, 0, Side::above));
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_TRUE(result.completeness.proven);
  Eigen::VectorXd nu = test::eigenvalues(to_dense(B.view()), to_dense(K.view()));
  ASSERT_EQ(result.eigenvalues.size(), 3U);
  for (std::size_t j = 0; j < 3; ++j) {
    const double expected = 1 / nu(nu.size() - 1 - static_cast<Eigen::Index>(j));
    EXPECT_LE(std::abs(result.eigenvalues[j] - expected), result.error_bounds[j] + 1e-6 * expected)
        << j;
    EXPECT_NEAR(result.eigenvalues[j], expected, 0.05 * expected) << j;
  }
}

TEST_F(DefiniteFirst, MisuseIsRefused) {
  const Matrix A = generate<double>(context_, {"laplace1d", {20}});
  SparseOperator<double, HostContext> of_A(context_, A.view());
  IndefiniteInverse<double, HostContext> inverse(A.view(), A.view());
  EigenProblem<double, HostContext> problem;
  problem.A = &of_A;
  NearestOptions options = options_for(3, 0, Side::above);
  EXPECT_THROW((nearest_eigenpairs<double, HostContext>(context_, problem, inverse, options)),
               InvalidArgument);
  problem.B = &of_A;
  options.counts = LimitCounts{0, 3};
  EXPECT_THROW((nearest_eigenpairs<double, HostContext>(context_, problem, inverse, options)),
               InvalidArgument);
}

}  // namespace
}  // namespace heddle
