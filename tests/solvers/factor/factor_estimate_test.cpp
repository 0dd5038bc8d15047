#include <gtest/gtest.h>

#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <heddle/solvers/factor/sparse_cholesky.hpp>
#include <string>
#include <vector>

namespace heddle::detail {
namespace {

const CsrView<double, HostSpace> kIdentity{};

struct Costs {
  FactorCost estimated, counted;
};

Costs costs_of(HostContext& context, const CsrView<double, HostSpace>& A,
               const CsrView<double, HostSpace>& B = kIdentity) {
  SparseCholesky cholesky(context, A, B, 1e9);
  EXPECT_TRUE(cholesky.analyse());
  return {estimate_factor_cost(A, B), cholesky.cost()};
}

HostCsrMatrix<double> from_edges(HostContext& context, Index n,
                                 const std::vector<std::pair<Index, Index>>& edges) {
  std::vector<Triplet<double>> entries;
  for (const auto& [i, j] : edges) entries.insert(entries.end(), {{i, j, -1}, {j, i, -1}});
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, 10});
  return csr_from_triplets<double>(context, n, n, entries);
}

/// Grids, meshes and graphs whose separators grow in different ways.
TEST(FactorEstimate, IsNearTheCountsOfAnActualOrder) {
  HostContext context;
  const std::vector<GallerySpec> specs = {
      {"laplace2d", {60, 60}},     {"laplace2d", {400, 12}},        {"laplace3d", {16, 16, 16}},
      {"laplace3d", {60, 9, 7}},   {"stencil27", {12, 12, 12}},     {"elasticity3d", {8, 8, 8}},
      {"wathen", {20, 30}},        {"random_geometric", {4000}},    {"trefethen", {1500}},
      {"lattice4d", {6, 6, 6, 6}}, {"random_symmetric", {1000}, 5}, {"band", {2000, 15}},
  };
  for (const GallerySpec& spec : specs) {
    const auto A = generate<double>(context, spec);
    const auto [estimated, counted] = costs_of(context, A.view());
    EXPECT_GT(estimated.entries, counted.entries / 3) << spec.name;
    EXPECT_LT(estimated.entries, counted.entries * 3) << spec.name;
    EXPECT_GT(estimated.operations, counted.operations / 6) << spec.name;
    EXPECT_LT(estimated.operations, counted.operations * 6) << spec.name;
  }
}

/// Vertices with one neighbour left are eliminated without fill.
TEST(FactorEstimate, IsExactForForests) {
  HostContext context;
  std::vector<std::pair<Index, Index>> tree;
  for (Index i = 1; i < 500; ++i) tree.emplace_back(i, (i * 7919) % i);
  const std::vector<HostCsrMatrix<double>> forests = [&] {
    std::vector<HostCsrMatrix<double>> all;
    all.push_back(from_edges(context, 500, tree));
    all.push_back(from_edges(context, 520, tree));  // with vertices apart
    all.push_back(generate<double>(context, {"laplace1d", {300}}));
    return all;
  }();
  for (const HostCsrMatrix<double>& A : forests) {
    const auto [estimated, counted] = costs_of(context, A.view());
    EXPECT_EQ(estimated.entries, counted.entries);
    EXPECT_EQ(estimated.operations, counted.operations);
  }
}

/// A row that couples to all others costs one entry per row.
TEST(FactorEstimate, PutsDenseRowsLast) {
  HostContext context;
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i + 1 < 2000; ++i) edges.emplace_back(i, i + 1);
  for (Index i = 0; i < 2000; ++i) edges.emplace_back(i, 2000);
  const auto A = from_edges(context, 2001, edges);
  EXPECT_LT(estimate_factor_cost(A.view(), kIdentity).entries, 5 * 2001);
}

/// The estimate for several copies of a graph, coupled by nothing, is the sum.
TEST(FactorEstimate, AddsUpParts) {
  HostContext context;
  const auto one = generate<double>(context, {"laplace2d", {20, 20}});
  std::vector<Triplet<double>> entries;
  for (Index copy = 0; copy < 5; ++copy) {
    for (Index i = 0; i < one.rows(); ++i) {
      for (auto e = one.view().row_offsets[i]; e < one.view().row_offsets[i + 1]; ++e) {
        entries.push_back({400 * copy + i, 400 * copy + one.view().columns[e], 1});
      }
    }
  }
  const auto five = csr_from_triplets<double>(context, 2000, 2000, entries);
  const FactorCost single = estimate_factor_cost(one.view(), kIdentity);
  const FactorCost all = estimate_factor_cost(five.view(), kIdentity);
  EXPECT_NEAR(all.entries, 5 * single.entries, 1e-9 * all.entries);
  EXPECT_NEAR(all.operations, 5 * single.operations, 1e-9 * all.operations);
}

/// Entries of B count, and those in both matrices only once.
TEST(FactorEstimate, UnitesThePatterns) {
  HostContext context;
  const auto grid = generate<double>(context, {"laplace2d", {25, 25}});
  const auto diagonal = csr_from_triplets<double>(context, 625, 625, {});
  const FactorCost alone = estimate_factor_cost(grid.view(), kIdentity);
  for (const auto& [A, B] : {std::pair{grid.view(), grid.view()},
                             {diagonal.view(), grid.view()},
                             {grid.view(), diagonal.view()}}) {
    const FactorCost both = estimate_factor_cost(A, B);
    EXPECT_EQ(both.entries, alone.entries);
    EXPECT_EQ(both.operations, alone.operations);
  }
}

/// A complete graph and an empty matrix have nothing to split.
TEST(FactorEstimate, HandlesWhatCannotBeSplit) {
  HostContext context;
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < i; ++j) edges.emplace_back(i, j);
  }
  const auto complete = from_edges(context, 30, edges);
  const auto [estimated, counted] = costs_of(context, complete.view());
  EXPECT_EQ(estimated.entries, counted.entries);
  EXPECT_EQ(estimated.operations, counted.operations);
  const auto empty = csr_from_triplets<double>(context, 0, 0, {});
  EXPECT_EQ(estimate_factor_cost(empty.view(), kIdentity).entries, 0);
}

}  // namespace
}  // namespace heddle::detail
