#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using Eigen::MatrixXd;
using test::csr_fault;
using test::same_bits;
using test::to_dense;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
class GraphLaplacian : public testing::Test {
 protected:
  HostContext context_{2};

  HostCsrMatrix<T> from(Index rows, Index cols, const std::vector<Triplet<T>>& triplets) {
    return csr_from_triplets<T>(context_, rows, cols, triplets);
  }

  /// The message of the refusal of a 3×3 matrix, empty if it is taken.
  std::string refusal(const std::vector<Triplet<T>>& triplets, const LaplacianOptions& options) {
    try {
      graph_laplacian(context_, from(3, 3, triplets).view(), options);
      return {};
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(GraphLaplacian, Scalars);

/// D − W or I − D^(-1/2) W D^(-1/2) of a dense W, without regard to its diagonal.
MatrixXd dense_laplacian(MatrixXd W, LaplacianKind kind) {
  W.diagonal().setZero();
  const Eigen::VectorXd degrees = W.rowwise().sum();
  MatrixXd L = MatrixXd(degrees.asDiagonal()) - W;
  if (kind == LaplacianKind::combinatorial) return L;
  const Eigen::VectorXd scale =
      (degrees.array() > 0).select(degrees.array().rsqrt(), Eigen::ArrayXd::Zero(W.rows()));
  return scale.asDiagonal() * L * scale.asDiagonal();
}

/// A random graph with weights over six orders of magnitude, loops, zeros and isolated vertices.
template <class T>
std::vector<Triplet<T>> random_edges(Index n, Index count, bool both_ways) {
  std::mt19937 engine(7);
  std::uniform_int_distribution<Index> vertex(0, n - 1);
  std::uniform_real_distribution<double> exponent(-3, 3);
  MatrixXd seen = MatrixXd::Zero(n, n);
  std::vector<Triplet<T>> edges;
  for (Index k = 0; k < count; ++k) {
    const Index i = vertex(engine);
    const Index j = vertex(engine);
    if (i % 10 == 9 || j % 10 == 9 || seen(i, j) != 0) continue;
    seen(i, j) = seen(j, i) = 1;
    const T weight = k % 17 == 0 ? T{0} : static_cast<T>(std::pow(10, exponent(engine)));
    edges.push_back({i, j, weight});
    if (both_ways && i != j) edges.push_back({j, i, weight});
  }
  return edges;
}

TYPED_TEST(GraphLaplacian, WeightedGraphsAgreeWithTheDefinition) {
  const auto A = this->from(60, 60, random_edges<TypeParam>(60, 400, true));
  for (const auto kind : {LaplacianKind::combinatorial, LaplacianKind::normalized}) {
    const auto L = graph_laplacian(this->context_, A.view(), {.kind = kind});
    const MatrixXd expected = dense_laplacian(to_dense(A.view()), kind);
    EXPECT_EQ(csr_fault(L.view()), "");
    EXPECT_LE((to_dense(L.view()) - expected).cwiseAbs().maxCoeff(),
              test::tolerance<TypeParam>(expected.cwiseAbs().maxCoeff(), 1, 8));
    EXPECT_TRUE(find_asymmetry(this->context_, L.view(), 0).empty());
  }
}

TYPED_TEST(GraphLaplacian, SymmetrizedListsOfEdgesAgreeWithTheLargerOfBothWeights) {
  std::vector<Triplet<TypeParam>> edges = random_edges<TypeParam>(60, 400, false);
  edges.push_back({edges[0].col, edges[0].row, edges[0].value / 4});
  const auto A = this->from(60, 60, edges);
  const MatrixXd dense = to_dense(A.view());
  const MatrixXd W = dense.cwiseMax(dense.transpose());
  EXPECT_THROW(graph_laplacian(this->context_, A.view()), InvalidArgument);
  for (const auto kind : {LaplacianKind::combinatorial, LaplacianKind::normalized}) {
    const auto L = graph_laplacian(this->context_, A.view(), {.kind = kind, .symmetrize = true});
    const MatrixXd expected = dense_laplacian(W, kind);
    EXPECT_LE((to_dense(L.view()) - expected).cwiseAbs().maxCoeff(),
              test::tolerance<TypeParam>(expected.cwiseAbs().maxCoeff(), 1, 8));
  }
}

TYPED_TEST(GraphLaplacian, UnitWeightsCountEdges) {
  // An edge given from one end, from both, with a weight, as NaN; a loop and a zero are no edges.
  const auto A = this->from(5, 5,
                            {{0, 1, 7},
                             {1, 2, -1},
                             {2, 1, -1},
                             {3, 2, static_cast<TypeParam>(kNaN)},
                             {1, 1, 9},
                             {0, 3, 0}});
  const auto L =
      graph_laplacian(this->context_, A.view(), {.weights = EdgeWeights::unit, .symmetrize = true});
  EXPECT_EQ(csr_fault(L.view()), "");
  MatrixXd expected(5, 5);
  expected << 1, -1, 0, 0, 0, -1, 2, -1, 0, 0, 0, -1, 2, -1, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0;
  EXPECT_EQ(to_dense(L.view()), expected);
  EXPECT_EQ(L.nnz(), 11);  // the diagonal of the isolated vertex is stored
  EXPECT_THROW(graph_laplacian(this->context_, A.view(), {.weights = EdgeWeights::unit}),
               InvalidArgument);
  // Weights that differ do not make a graph directed if they do not count.
  const auto both = this->from(2, 2, {{0, 1, 7}, {1, 0, -3}});
  const auto edge = graph_laplacian(this->context_, both.view(), {.weights = EdgeWeights::unit});
  EXPECT_EQ(to_dense(edge.view()), (Eigen::Matrix2d{{1, -1}, {-1, 1}}));
}

TYPED_TEST(GraphLaplacian, NormalizedLaplacianOfACompleteGraph) {
  const Index n = 6;  // K₆ and an isolated vertex: eigenvalues 0, 0 and n/(n − 1) five times
  std::vector<Triplet<TypeParam>> edges;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i != j) edges.push_back({i, j, 3});
    }
  }
  const auto A = this->from(n + 1, n + 1, edges);
  const auto L = graph_laplacian(this->context_, A.view(), {.kind = LaplacianKind::normalized});
  const Eigen::VectorXd eigenvalues = test::eigenvalues(to_dense(L.view()));
  const double tolerance = test::tolerance<TypeParam>(1, static_cast<double>(n));
  for (Index i = 0; i <= n; ++i) {
    EXPECT_NEAR(eigenvalues(i), i < 2 ? 0.0 : 1.2, tolerance) << i;
  }
}

TEST(GraphLaplacianRange, NormalizationSurvivesExtremeWeights) {
  HostContext context(1);
  for (const double weight : {1e-300, 5e-324, 1e300}) {
    const std::vector<Triplet<double>> edges = {{0, 1, weight}, {1, 0, weight}};
    const auto A = csr_from_triplets<double>(context, 2, 2, edges);
    const auto L = graph_laplacian(context, A.view(), {.kind = LaplacianKind::normalized});
    EXPECT_LE((to_dense(L.view()) - MatrixXd(Eigen::Matrix2d{{1, -1}, {-1, 1}})).norm(), 1e-15)
        << weight;
  }
}

TYPED_TEST(GraphLaplacian, RoundingDoesNotMakeAGraphDirected) {
  const TypeParam more = 1 + 4 * std::numeric_limits<TypeParam>::epsilon();
  const auto A = this->from(2, 2, {{0, 1, 3}, {1, 0, 3 * more}});
  const auto L = graph_laplacian(this->context_, A.view());
  EXPECT_TRUE(find_asymmetry(this->context_, L.view(), 0).empty());
  EXPECT_EQ(L.view().values[0], 3 * more);
  // A small edge is not lost in the rounding errors of a large one.
  const TypeParam large = 1 / std::numeric_limits<TypeParam>::epsilon();
  EXPECT_NE(this->refusal({{0, 1, large}, {1, 0, large}, {1, 2, 1}}, {}), "");
}

TYPED_TEST(GraphLaplacian, RefusesWithASentence) {
  EXPECT_EQ(this->refusal({{0, 1, 2}, {1, 0, 2}, {2, 1, 3}}, {}),
            "the graph is directed: entry (3, 2) is 3, entry (2, 3) is 0; a Laplacian takes "
            "undirected graphs. symmetrize: true gives both directions the larger of the two "
            "weights");
  EXPECT_EQ(this->refusal({{0, 1, -0.5}, {1, 0, -0.5}}, {}),
            "a graph Laplacian takes no negative weights, but entry (1, 2) is -0.5; weights: unit "
            "gives every edge the weight 1");
  const auto infinite = static_cast<TypeParam>(kInf);
  EXPECT_EQ(this->refusal({{0, 1, infinite}, {1, 0, infinite}}, {}),
            "a graph Laplacian takes finite weights, but entry (1, 2) is inf");
  const TypeParam most = std::numeric_limits<TypeParam>::max();
  EXPECT_EQ(this->refusal({{0, 1, most}, {0, 2, most}}, {.symmetrize = true}),
            "a graph Laplacian takes finite degrees, but the weights of row 1 have a sum that is "
            "too large");
  // Loops count for nothing, whatever their values.
  EXPECT_EQ(this->refusal({{1, 1, -3}, {2, 2, static_cast<TypeParam>(kNaN)}}, {}), "");
  EXPECT_NE(this->refusal({{0, 1, -1}}, {.symmetrize = true}), "");
  const auto wide = this->from(2, 3, {});
  EXPECT_THROW(graph_laplacian(this->context_, wide.view()), InvalidArgument);
  EXPECT_THROW(symmetrize(this->context_, wide.view()), InvalidArgument);
}

TYPED_TEST(GraphLaplacian, SymmetrizeTakesTheEntryOfLargerMagnitude) {
  const auto A = test::random_matrix<TypeParam>(150, 150, 4);
  const MatrixXd dense = to_dense(A.view());
  const auto W = symmetrize(this->context_, A.view());
  EXPECT_EQ(csr_fault(W.view()), "");
  const MatrixXd symmetric = to_dense(W.view());
  for (Index i = 0; i < 150; ++i) {
    for (Index j = 0; j < 150; ++j) {
      const double a = dense(i, j);
      const double b = dense(j, i);
      ASSERT_EQ(symmetric(i, j), std::abs(a) > std::abs(b) ? a : b) << i << " " << j;
    }
  }
  EXPECT_TRUE(same_bits(symmetrize(this->context_, W.view()).view(), W.view()));
  const auto signs = this->from(2, 2, {{0, 1, -2}, {1, 0, 2}});
  EXPECT_EQ(to_dense(symmetrize(this->context_, signs.view()).view()),
            (Eigen::Matrix2d{{0, 2}, {2, 0}}));
  EXPECT_EQ(symmetrize(this->context_, this->from(0, 0, {}).view()).rows(), 0);
}

}  // namespace
}  // namespace heddle
