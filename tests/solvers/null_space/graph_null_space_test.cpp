#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/null_space/graph_null_space.hpp>
#include <limits>
#include <set>

#include "solvers/null_space/graphs.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

using test::Edge;
using test::laplacian_entries;
using test::laplacian_of;
using test::random_parts;

constexpr Index kAll = std::numeric_limits<Index>::max();

Eigen::MatrixXd columns_of(const GraphNullSpace& found, Index n) {
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(n, found.dimension);
  for (Index i = 0; i < n && found.dimension > 0; ++i) {
    const Index j = found.vector[static_cast<std::size_t>(i)];
    if (j >= 0) Z(i, j) = found.entries[static_cast<std::size_t>(i)];
  }
  return Z;
}

/// Eigenvalues up to this share of the largest one are 0.
Index nullity(const Eigen::MatrixXd& A, double zero = 1e-12) {
  const Eigen::VectorXd values = test::eigenvalues(A);
  return (values.array().abs() <= zero * values.array().abs().maxCoeff()).count();
}

/// Compares with the null space from a dense solve.
void expect_null_space_of(const GraphNullSpace& found, const Eigen::MatrixXd& A, Index dimension) {
  ASSERT_EQ(found.dimension, dimension);
  EXPECT_EQ(nullity(A), dimension);
  EXPECT_GE(test::eigenvalues(A).minCoeff(), -1e-12 * A.norm());
  const Eigen::MatrixXd Z = columns_of(found, A.rows());
  for (Index j = 0; j < dimension; ++j) {
    EXPECT_GT(Z.col(j).norm(), 0.5);
    EXPECT_LE((A * Z.col(j)).norm(), 1e-14 * A.norm() * Z.col(j).norm()) << j;
  }
}

TEST(GraphNullSpace, HasAVectorPerConnectedComponentOfALaplacian) {
  HostContext context(2);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::vector<Index> parts = {1, 30, 2, 1, 25, 7};
    const auto A = laplacian_of(context, 66, random_parts(parts, seed));
    const GraphNullSpace found = graph_null_space(context, A.view(), kAll);
    expect_null_space_of(found, test::to_dense(A.view()), 6);
    EXPECT_TRUE(found.complete);
  }
}

TEST(GraphNullSpace, SearchesNoFurtherThanAsked) {
  HostContext context(2);
  const auto A = laplacian_of(context, 40, random_parts({10, 10, 10, 10}, 3));
  const GraphNullSpace found = graph_null_space(context, A.view(), 3);
  EXPECT_EQ(found.dimension, 3);
  EXPECT_FALSE(found.complete);
  const Eigen::MatrixXd dense = test::to_dense(A.view());
  EXPECT_LE((dense * columns_of(found, 40)).norm(), 1e-14 * dense.norm());
}

TEST(GraphNullSpace, StoredZerosAreNoEdges) {
  HostContext context(2);
  std::vector<Triplet<double>> entries = laplacian_entries(random_parts({20, 20}, 5));
  for (Index i = 0; i + 1 < 40; ++i) {
    entries.insert(entries.end(), {{i, i + 1, 0.0}, {i + 1, i, 0.0}});
  }
  const auto A = csr_from_triplets<double>(context, 40, 40, entries);
  expect_null_space_of(graph_null_space(context, A.view(), kAll), test::to_dense(A.view()), 2);
}

/// Σ w (e_i ± e_j)(e_i ± e_j)ᵀ has a null vector per component whose signs are consistent.
TEST(GraphNullSpace, KnowsSignedGraphsByTheirBalance) {
  HostContext context(2);
  std::mt19937 engine(7);
  Index balanced_parts = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::vector<double> side(50);
    for (double& each : side) each = engine() % 2 == 0 ? 1 : -1;
    std::vector<Triplet<double>> entries;
    Index flipped = 0;
    for (const auto& [i, j, w] : random_parts({3, 22, 25}, seed)) {
      double sign = -side[static_cast<std::size_t>(i)] * side[static_cast<std::size_t>(j)];
      if (seed % 3 != 0 && flipped < 2 && engine() % 8 == 0) {
        sign = -sign;
        ++flipped;
      }
      entries.insert(entries.end(), {{i, i, w}, {j, j, w}, {i, j, sign * w}, {j, i, sign * w}});
    }
    const auto A = csr_from_triplets<double>(context, 50, 50, entries);
    const Eigen::MatrixXd dense = test::to_dense(A.view());
    expect_null_space_of(graph_null_space(context, A.view(), kAll), dense, nullity(dense));
    balanced_parts += nullity(dense);
  }
  EXPECT_GT(balanced_parts, 12);
  EXPECT_LT(balanced_parts, 36) << "some flipped signs must have mattered";
}

TEST(GraphNullSpace, TakesTheSizesOfNormalisedLaplacians) {
  HostContext context(2);
  const Index n = 60;
  std::vector<Triplet<double>> weights, pattern;
  for (const auto& [i, j, w] : random_parts({1, 29, 30}, 11)) {
    weights.insert(weights.end(), {{i, j, w}, {j, i, w}});
    pattern.insert(pattern.end(), {{i, j, 1.0}, {j, i, 1.0}});
  }
  const LaplacianOptions normalized{.kind = LaplacianKind::normalized};
  const auto unweighted = graph_laplacian<double>(
      context, csr_from_triplets<double>(context, n, n, pattern).view(), normalized);
  expect_null_space_of(graph_null_space(context, unweighted.view(), kAll),
                       test::to_dense(unweighted.view()), 3);

  std::vector<double> degrees;
  const auto weighted = graph_laplacian<double>(
      context, csr_from_triplets<double>(context, n, n, weights).view(), normalized, &degrees);
  EXPECT_EQ(graph_null_space(context, weighted.view(), kAll).dimension, 0) << "without the sizes";
  for (double& each : degrees) each = each > 0 ? std::sqrt(each) : 1;
  expect_null_space_of(graph_null_space(context, weighted.view(), kAll, degrees),
                       test::to_dense(weighted.view()), 3);
}

TEST(GraphNullSpace, LeavesOutComponentsThatAreHeld) {
  HostContext context(2);
  for (const double held : {1.0, 1e-9}) {
    std::vector<Triplet<double>> entries = laplacian_entries(random_parts({30, 30}, 13));
    entries.push_back({17, 17, held});
    const auto A = csr_from_triplets<double>(context, 60, 60, entries);
    const GraphNullSpace found = graph_null_space(context, A.view(), kAll);
    ASSERT_EQ(found.dimension, 1) << held;
    EXPECT_EQ(found.vector[17], -1);
    EXPECT_EQ(columns_of(found, 60).rowwise().norm().count(), 30);
    const Eigen::MatrixXd dense = test::to_dense(A.view());
    EXPECT_LE((dense * columns_of(found, 60)).norm(), 1e-14 * dense.norm());
  }
}

/// With a negative weight, or one diagonal entry too small, row sums of other components are still
/// zero, but the smallest eigenvalue is not.
TEST(GraphNullSpace, IsEmptyWhereAnEigenvalueMayBeNegative) {
  HostContext context(2);
  std::vector<Edge> edges = random_parts({20, 20}, 17);
  edges.back().weight = -2;
  const auto indefinite = laplacian_of(context, 40, edges);
  ASSERT_LT(test::eigenvalues(test::to_dense(indefinite.view())).minCoeff(), -0.1);
  EXPECT_EQ(graph_null_space(context, indefinite.view(), kAll).dimension, 0);

  std::vector<Triplet<double>> entries = laplacian_entries(random_parts({20, 20}, 17));
  entries.push_back({3, 3, -1e-9});
  const auto lowered = csr_from_triplets<double>(context, 40, 40, entries);
  EXPECT_EQ(graph_null_space(context, lowered.view(), kAll).dimension, 0);

  entries.back().value = std::numeric_limits<double>::quiet_NaN();
  const auto broken = csr_from_triplets<double>(context, 40, 40, entries);
  EXPECT_EQ(graph_null_space(context, broken.view(), kAll).dimension, 0);
}

/// The diagonal of a hub is a sum of thousands of rounded weights.
TEST(GraphNullSpace, ToleratesTheRoundingOfLongSums) {
  HostContext context(2);
  std::vector<Edge> edges;
  for (Index i = 1; i < 4000; ++i) edges.push_back({0, i, 0.1});
  const auto star = laplacian_of(context, 4000, edges);
  double sum = 0;
  for (Index k = 0; k < star.view().row_offsets[1]; ++k) sum += star.view().values[k];
  ASSERT_NE(sum, 0) << "the sum of the row must not be exact";
  const GraphNullSpace found = graph_null_space(context, star.view(), kAll);
  EXPECT_EQ(found.dimension, 1);
  const auto rounded = convert<float>(context, star.view());
  EXPECT_EQ(graph_null_space(context, rounded.view(), kAll).dimension, 1);
}

TEST(GraphNullSpace, OfMatricesWithoutOneIsEmpty) {
  HostContext context(2);
  std::vector<Triplet<double>> chain;
  for (Index i = 0; i < 50; ++i) chain.push_back({i, i, 2.0});
  for (Index i = 0; i + 1 < 50; ++i) {
    chain.insert(chain.end(), {{i, i + 1, -1.0}, {i + 1, i, -1.0}});
  }
  const auto held = csr_from_triplets<double>(context, 50, 50, chain);
  EXPECT_EQ(graph_null_space(context, held.view(), kAll).dimension, 0);
  const auto zero = csr_from_triplets<double>(context, 5, 5, {});
  EXPECT_EQ(graph_null_space(context, zero.view(), kAll).dimension, 5) << "every vector is one";
}

}  // namespace
}  // namespace heddle
