#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numbers>
#include <vector>

#include "support/dense.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using View = CsrView<double, HostSpace>;

Index row_length(const View& A, Index i) { return A.row_offsets[i + 1] - A.row_offsets[i]; }

/// A random sum is expected within five of its standard deviations.
void expect_sampled(double actual, double mean, double variance) {
  EXPECT_NEAR(actual, mean, 5 * std::sqrt(variance));
}

TEST(RandomUniform, RowsHoldTheDensity) {
  HostContext context(2);
  const auto whole = generate<double>(context, {"random_uniform", {50, 20}, 7});
  for (Index i = 0; i < 50; ++i) EXPECT_EQ(row_length(whole.view(), i), 7);
  const auto half = generate<double>(context, {"random_uniform", {50, 20}, 2.5});
  for (Index i = 0; i < 50; ++i) EXPECT_EQ(row_length(half.view(), i), 2 + i % 2);
  const auto full = generate<double>(context, {"random_uniform", {9, 11}, 11});
  EXPECT_EQ(full.nnz(), 99);
  const auto by_default = generate<double>(context, {"random_uniform", {30}});
  EXPECT_EQ(by_default.cols(), 30);
  EXPECT_EQ(by_default.nnz(), 30 * 16);
}

TEST(RandomUniform, ColumnsAndValuesAreUniform) {
  HostContext context(2);
  constexpr Index rows = 2000;
  constexpr Index cols = 25;
  constexpr double density = 10;
  const auto matrix = generate<double>(context, {"random_uniform", {rows, cols}, density});
  const View A = matrix.view();
  std::vector<double> met(cols, 0);
  double sum = 0;
  double squares = 0;
  for (Index k = 0; k < A.nnz; ++k) {
    met[static_cast<std::size_t>(A.columns[k])] += 1;
    sum += A.values[k];
    squares += A.values[k] * A.values[k];
    EXPECT_LT(std::abs(A.values[k]), 1);
  }
  constexpr double share = density / static_cast<double>(cols);
  for (const double count : met) expect_sampled(count, rows * share, rows * share * (1 - share));
  const auto entries = static_cast<double>(A.nnz);
  expect_sampled(sum, 0, entries / 3);
  expect_sampled(squares, entries / 3, entries * 4 / 45);
}

TEST(RandomSymmetric, DiagonalExceedsTheRestOfItsRowByOne) {
  HostContext context(2);
  const auto matrix = generate<double>(context, {"random_symmetric", {100}, 8});
  const Eigen::MatrixXd A = test::to_dense(matrix.view());
  const Eigen::VectorXd others = A.cwiseAbs().rowwise().sum() - A.diagonal();
  EXPECT_LE((A.diagonal() - others - Eigen::VectorXd::Ones(100)).cwiseAbs().maxCoeff(),
            test::tolerance<double>(A.diagonal().maxCoeff(), 100));
  const double smallest = test::eigenvalues(A)(0);
  EXPECT_GE(smallest, 1 - test::tolerance<double>(A.diagonal().maxCoeff(), 100));
}

TEST(RandomSymmetric, RowsHoldAboutTheDensity) {
  HostContext context(2);
  constexpr double n = 5000;
  constexpr double density = 6;
  const auto A = generate<double>(context, {"random_symmetric", {static_cast<Index>(n)}, density});
  const double pairs = static_cast<double>(A.nnz() - A.rows()) / 2;
  const double drawn = n * density / 2;
  // A draw is lost with probability 1/n to a loop, and to an earlier one below density/n.
  EXPECT_LE(pairs, drawn);
  EXPECT_GE(pairs, drawn * (1 - (1 + density) / n) - 5 * std::sqrt(drawn * (1 + density) / n));
}

/// The probability that one R-MAT draw lands on (u, v).
double rmat_probability(Index scale, Index u, Index v) {
  constexpr double kQuadrant[2][2] = {{0.57, 0.19}, {0.19, 0.05}};
  double probability = 1;
  for (Index level = 0; level < scale; ++level) {
    probability *= kQuadrant[u >> level & 1][v >> level & 1];
  }
  return probability;
}

TEST(Rmat, MeetsEdgesAsOftenAsItsQuadrantsSay) {
  HostContext context(2);
  constexpr Index scale = 6;
  constexpr Index n = 1 << scale;
  constexpr double density = 4;
  const auto matrix = generate<double>(context, {"rmat", {scale}, density});
  const Eigen::MatrixXd A = test::to_dense(matrix.view());
  ASSERT_EQ(A.rows(), n);
  EXPECT_EQ(A.diagonal().cwiseAbs().sum(), 0);
  EXPECT_EQ(A.maxCoeff(), 1);
  EXPECT_EQ(A.sum(), static_cast<double>(matrix.nnz()));

  // Edges between the halves of the vertices: expectation and (an upper bound of) variance of the
  // number of pairs that density·n draws meet at least once.
  Eigen::Matrix2d mean = Eigen::Matrix2d::Zero();
  Eigen::Matrix2d variance = Eigen::Matrix2d::Zero();
  Eigen::Matrix2d met = Eigen::Matrix2d::Zero();
  for (Index u = 0; u < n; ++u) {
    for (Index v = u + 1; v < n; ++v) {
      const double pair = rmat_probability(scale, u, v) + rmat_probability(scale, v, u);
      const double hit = 1 - std::pow(1 - pair, density * n);
      mean(2 * u / n, 2 * v / n) += hit;
      variance(2 * u / n, 2 * v / n) += hit * (1 - hit);
      met(2 * u / n, 2 * v / n) += A(u, v);
    }
  }
  expect_sampled(met(0, 0), mean(0, 0), variance(0, 0));
  expect_sampled(met(0, 1), mean(0, 1), variance(0, 1));
  expect_sampled(met(1, 1), mean(1, 1), variance(1, 1));
}

/// The share of a unit square's points within r of another, after Philip (2007).
double share_within(double r) {
  return std::numbers::pi * r * r - 8 * r * r * r / 3 + r * r * r * r / 2;
}

TEST(RandomGeometric, JoinsThePointsWithinTheRadiusOfTheDensity) {
  HostContext context(2);
  constexpr std::uint64_t kSeed = 11;
  for (const double density : {0.5, 8.0, 150.0}) {
    constexpr Index n = 300;
    const auto matrix = generate<double>(context, {"random_geometric", {n}, density, kSeed});
    std::vector<Index> degrees;
    for (Index i = 0; i < n; ++i) degrees.push_back(row_length(matrix.view(), i));

    double radius = 0;
    for (double step = 0.5; step > 1e-16; step /= 2) {
      if (share_within(radius + step) * (n - 1) <= density) radius += step;
    }
    std::vector<Index> expected(n, 0);
    std::vector<Eigen::Vector2d> points;
    for (std::uint64_t k = 0; k < n; ++k) {
      const PhiloxBlock bits = random_block(kSeed, 0, k);
      points.emplace_back(unit_uniform(bits.words[0], bits.words[1]),
                          unit_uniform(bits.words[2], bits.words[3]));
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = 0; j < points.size(); ++j) {
        expected[i] += i != j && (points[i] - points[j]).norm() <= radius ? 1 : 0;
      }
    }
    std::sort(degrees.begin(), degrees.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(degrees, expected) << "density " << density;
  }
}

TEST(RandomGeometric, MeanDegreeIsTheDensity) {
  HostContext context(2);
  constexpr Index n = 4000;
  constexpr double density = 8;
  const auto A = generate<double>(context, {"random_geometric", {n}, density});
  // Points near the rim have fewer neighbours: the pairs that share a point vary together, which a
  // factor of 2 in the variance of the edge count allows for.
  const double edges = density * n / 2;
  expect_sampled(static_cast<double>(A.nnz()) / 2, edges, 2 * edges);
}

}  // namespace
}  // namespace heddle
