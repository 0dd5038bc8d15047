#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/aggregates.hpp>
#include <heddle/solvers/preconditioners/multigrid/grid_ops.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace heddle {
namespace {

using namespace detail;

/// The grid of a matrix with `unknowns` per node, and near null vectors of ones and random numbers.
Grid<HostSpace> grid_of(HostContext& context, HostCsrMatrix<double> A, Index unknowns = 1,
                        Index vectors = 1) {
  Grid<HostSpace> grid;
  grid.nodes = equal_nodes(context, A.rows(), unknowns);
  grid.near_null = MultiVector<double, HostSpace>(context, A.rows(), vectors);
  std::mt19937 engine(3);
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < vectors; ++j) {
      grid.near_null.view()(i, j) = j == 0 ? 1 : static_cast<double>(engine() % 100) / 10;
    }
  }
  grid.A = std::move(A);
  return grid;
}

/// The Laplacian of a random graph with `edges` edges. Its last `alone` vertices have none.
HostCsrMatrix<double> random_graph(HostContext& context, Index n, Index edges, Index alone) {
  std::mt19937 engine(7);
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, 0});
  for (Index e = 0; e < edges; ++e) {
    const auto a = static_cast<Index>(engine() % static_cast<unsigned>(n - alone));
    const auto b = static_cast<Index>(engine() % static_cast<unsigned>(n - alone));
    if (a == b) continue;
    const double weight = 1 + static_cast<double>(engine() % 8);
    for (const auto& [i, j, sign] : {std::tuple{a, b, -1}, {b, a, -1}, {a, a, 1}, {b, b, 1}}) {
      entries.push_back({i, j, sign * weight});
    }
  }
  return csr_from_triplets<double>(context, n, n, entries);
}

TEST(GridOps, ListTheNodesOfRowsAndTheRowsOfNodes) {
  HostContext context(2);
  const Grid<HostSpace> grid =
      grid_of(context, generate<double>(context, {"elasticity3d", {3, 4, 5}}), 3);
  ASSERT_EQ(3 * grid.node_count(), grid.A.rows());
  const Buffer<std::int32_t, HostSpace> of_row = node_of_rows(context, grid);
  ASSERT_EQ(static_cast<Index>(of_row.size()), grid.A.rows());
  for (std::size_t row = 0; row < of_row.size(); ++row) {
    EXPECT_EQ(of_row[row], static_cast<std::int32_t>(row / 3));
    EXPECT_EQ(grid.nodes[row / 3], static_cast<std::int64_t>(row / 3 * 3));
  }
}

TEST(GridOps, NormOfASymmetricMatrixIsItsOneNorm) {
  HostContext context(2);
  HostCsrMatrix<double> A = random_graph(context, 300, 900, 2);
  EXPECT_DOUBLE_EQ(symmetric_norm(context, A.view()), norm_1<double>(context, A.view()));
  A.values()[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(symmetric_norm(context, A.view())));
}

// The weights that optimise the polynomial make λ q²/(1 − q²), with q = 1 − λ p, equal at 0 and at
// the end of the interval, and smaller in between. Without them it is 3β/(4k(k + 1)) at 0.
TEST(SmoothingPolynomial, IsTheOptimalOneOfItsDegree) {
  const double beta = 1.7;
  for (int k = 1; k <= kMostSmoothingDegree; ++k) {
    const std::vector<double> a = smoothing_polynomial(k, beta);
    ASSERT_EQ(std::ssize(a), k);
    const auto quotient = [&](double lambda) {
      double p = 0;
      for (std::size_t i = a.size(); i-- > 0;) p = p * lambda + a[i];
      EXPECT_GT(p, 0) << lambda;
      const double q = 1 - lambda * p;
      return lambda * q * q / (1 - q * q);
    };
    const double at_zero = 1 / (2 * a[0]);  // the limit
    EXPECT_LT(at_zero, 3 * beta / (4 * k * (k + 1)));
    EXPECT_NEAR(quotient(beta), at_zero, 1e-6 * at_zero) << "degree " << k;
    for (int i = 1; i <= 1000; ++i) {
      EXPECT_LT(quotient(beta * i / 1000), at_zero * (1 + 1e-6)) << "degree " << k << ", " << i;
    }
  }
}

TEST(Aggregates, AreNeighbourhoodsOfRootsWithWhatIsNextToThem) {
  HostContext context;
  for (const auto& grid :
       {grid_of(context, generate<double>(context, {"laplace2d", {23, 31}})),
        grid_of(context, generate<double>(context, {"stencil27", {9, 8, 7}})),
        grid_of(context, generate<double>(context, {"elasticity3d", {4, 5, 3}}), 3),
        grid_of(context, random_graph(context, 400, 700, 5))}) {
    const NodeGraph<HostSpace> graph = strong_connections(context, grid, 0);
    const Aggregates<HostSpace> made = aggregate(context, graph);
    std::vector<std::set<std::size_t>> members(static_cast<std::size_t>(made.count));
    const auto neighbours = [&](std::size_t I) {
      return std::set<std::size_t>(graph.neighbours.data() + graph.offsets[I],
                                   graph.neighbours.data() + graph.offsets[I + 1]);
    };
    for (std::size_t I = 0; I < made.of_node.size(); ++I) {
      EXPECT_EQ(made.of_node[I] < 0, neighbours(I).empty()) << "node " << I;
      if (made.of_node[I] >= 0) members.at(static_cast<std::size_t>(made.of_node[I])).insert(I);
    }
    for (const std::set<std::size_t>& aggregate : members) {
      const auto is_root = [&](std::size_t I) {
        for (const std::size_t J : neighbours(I)) {
          if (!aggregate.contains(J)) return false;
        }
        for (const std::size_t K : aggregate) {  // within two edges
          bool near = K == I || neighbours(I).contains(K);
          for (const std::size_t J : neighbours(I)) near = near || neighbours(J).contains(K);
          if (!near) return false;
        }
        return true;
      };
      EXPECT_TRUE(std::any_of(aggregate.begin(), aggregate.end(), is_root));
    }
  }
}

TEST(Connections, AreStrongAlongTheStiffDirection) {
  HostContext context;
  const Index n = 12;
  std::vector<Triplet<double>> entries;
  for (Index y = 0; y < n; ++y) {
    for (Index x = 0; x < n; ++x) {
      const Index i = y * n + x;
      entries.push_back({i, i, 2.02});
      if (x > 0) entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
      if (y > 0) entries.insert(entries.end(), {{i, i - n, -.01}, {i - n, i, -.01}});
    }
  }
  const Grid<HostSpace> grid =
      grid_of(context, csr_from_triplets<double>(context, n * n, n * n, entries));
  const NodeGraph<HostSpace> strong = strong_connections(context, grid, 0.08);
  EXPECT_EQ(static_cast<Index>(strong.neighbours.size()), 2 * n * (n - 1));
  for (Index i = 0; i < n * n; ++i) {
    for (auto e = strong.offsets[static_cast<std::size_t>(i)];
         e < strong.offsets[static_cast<std::size_t>(i + 1)]; ++e) {
      EXPECT_EQ(std::abs(strong.neighbours[static_cast<std::size_t>(e)] - i), 1);
    }
  }
}

TEST(UnknownsPerNode, AreFoundInThePattern) {
  HostContext context;
  const auto found = [&](const GallerySpec& spec) {
    return unknowns_per_node(context, generate<double>(context, spec).view());
  };
  EXPECT_EQ(found({"elasticity3d", {6, 5, 4}}), 3);
  EXPECT_EQ(found({"laplace3d", {8, 9, 10}}), 1);
  EXPECT_EQ(found({"stencil27", {8, 8, 8}}), 1);
  EXPECT_EQ(found({.name = "band", .size = {300, 20}}), 1);
}

/// T is orthonormal and T X_c = X, also where columns of X depend on each other.
TEST(Prolongator, RepresentsTheNearNullVectors) {
  HostContext context;
  Grid<HostSpace> grid =
      grid_of(context, generate<double>(context, {"elasticity3d", {5, 4, 6}}), 3, 4);
  for (Index i = 0; i < grid.A.rows(); ++i) {
    grid.near_null.view()(i, 2) = 3 * grid.near_null.view()(i, 0);
  }
  const NodeGraph<HostSpace> strong = strong_connections(context, grid, 0);
  const TentativeProlongator<HostSpace> made =
      tentative_prolongator(context, grid, aggregate(context, strong));
  const CsrView<double, HostSpace> T = made.T.view();
  ASSERT_EQ(T.cols, made.nodes[made.nodes.size() - 1]);
  ASSERT_EQ(T.cols, made.near_null.rows());
  std::vector<double> squares(static_cast<std::size_t>(T.cols), 0.0);
  for (Index i = 0; i < T.rows; ++i) {
    for (Index j = 0; j < 4; ++j) {
      double sum = 0;
      for (auto e = T.row_offsets[i]; e < T.row_offsets[i + 1]; ++e) {
        sum += T.values[e] * made.near_null.view()(T.columns[e], j);
        if (j == 0) squares[static_cast<std::size_t>(T.columns[e])] += T.values[e] * T.values[e];
      }
      EXPECT_NEAR(sum, grid.near_null.view()(i, j), 1e-12);
    }
  }
  for (const double square : squares) EXPECT_NEAR(square, 1, 1e-13);
  for (std::size_t a = 1; a < made.nodes.size(); ++a) {
    EXPECT_EQ(made.nodes[a] - made.nodes[a - 1], 3) << "one of four vectors depends on another";
  }
}

/// A vector that A maps to zero stays one through the smoothing, also where weak entries are left
/// out.
TEST(Prolongator, KeepsNullVectorsWhenItIsSmoothed) {
  HostContext context;
  const Grid<HostSpace> grid = grid_of(context, random_graph(context, 500, 2500, 0));
  for (const double threshold : {0.0, 0.3}) {
    const NodeGraph<HostSpace> strong = strong_connections(context, grid, threshold);
    const TentativeProlongator<HostSpace> made =
        tentative_prolongator(context, grid, aggregate(context, strong));
    const HostCsrMatrix<double> P =
        smoothed_prolongator(context, grid, strong, made.T.view(), 2 * 60.0);
    Index wider = 0;  // rows that smoothing has given further entries
    for (Index i = 0; i < P.rows(); ++i) {
      double sum = 0;
      const CsrView<double, HostSpace> view = P.view();
      for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
        sum += view.values[e] * made.near_null.view()(view.columns[e], 0);
      }
      wider += view.row_offsets[i + 1] - view.row_offsets[i] > 1;
      const double tolerance = threshold == 0 ? 1e-12 : 0.8;  // Ā keeps the diagonal in some rows
      EXPECT_NEAR(sum, 1, tolerance) << "row " << i << ", threshold " << threshold;
    }
    EXPECT_GT(wider, P.rows() / 2);
  }
}

}  // namespace
}  // namespace heddle
