#include <gtest/gtest.h>

#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/null_space/distributed_null_space.hpp>
#include <heddle/solvers/null_space/graph_null_space.hpp>
#include <support/on_threads.hpp>
#include <vector>

namespace heddle {
namespace {

using Entries = std::vector<Triplet<double>>;

HostCsrMatrix<double> matrix_of(HostContext& context, Index n, const Entries& entries) {
  return csr_from_triplets<double>(context, n, n, entries);
}

/// The Laplacian of a path through the rows first, first + step, …
void add_path(Index first, Index end, Index step, Entries& entries) {
  for (Index i = first; i < end; i += step) {
    const Index next = i + step;
    entries.push_back({i, i, (i > first ? 1.0 : 0.0) + (next < end ? 1.0 : 0.0)});
    if (next >= end) continue;
    entries.push_back({i, next, -1});
    entries.push_back({next, i, -1});
  }
}

/// As many processes as there may be find what the search in the whole matrix does.
void expect_shown(const HostCsrMatrix<double>& A, bool none) {
  HostContext alone(1);
  EXPECT_EQ(graph_null_space<double>(alone, A.view(), 5).dimension == 0, none);
  for (const int count : {2, 3, 5}) {
    test::on_threads(count, [&](HostContext& context) {
      const RowRanges rows = equal_rows(A.rows(), count);
      const auto part = scatter(context, A.view(), rows, rows);
      EXPECT_EQ(shows_no_null_vector(context, part.view()), none) << count;
    });
  }
}

TEST(DistributedNullSpace, AsInTheWholeMatrix) {
  HostContext context(1);
  expect_shown(generate<double>(context, {"laplace3d", {5, 6, 7}}), true);
  expect_shown(generate<double>(context, {"trefethen", {100}}), true);
  const HostCsrMatrix<double> graph = generate<double>(context, {"rmat", {7}});
  LaplacianOptions options{.weights = EdgeWeights::unit, .symmetrize = true};
  expect_shown(graph_laplacian<double>(context, graph.view(), options), false);
  options.kind = LaplacianKind::normalized;
  expect_shown(graph_laplacian<double>(context, graph.view(), options), false);
}

TEST(DistributedNullSpace, OfEachComponent) {
  HostContext context(1);
  Entries entries;
  add_path(0, 60, 2, entries);  // both pass through all processes
  add_path(1, 60, 2, entries);
  expect_shown(matrix_of(context, 60, entries), false);
  entries.push_back({0, 0, 1e-3});  // a row of the first with more than equality
  expect_shown(matrix_of(context, 60, entries), false);
  entries.push_back({59, 59, 1e-3});
  expect_shown(matrix_of(context, 60, entries), true);
  entries.push_back({30, 30, -2});  // not semidefinite
  expect_shown(matrix_of(context, 60, entries), true);
  expect_shown(matrix_of(context, 20, {{3, 3, 1.0}}), false);  // rows of zeros
}

/// A path that passes from process to process with each of its edges takes too many rounds to
/// follow.
TEST(DistributedNullSpace, MayNotBeKnown) {
  constexpr Index kHalf = 400;
  HostContext alone(1);
  Entries entries;
  const auto row = [](Index k) { return k / 2 + (k % 2 == 0 ? 0 : kHalf); };
  for (Index k = 0; k < 2 * kHalf; ++k) {
    entries.push_back({row(k), row(k), k == 0 || k + 1 < 2 * kHalf ? 2.0 : 1.0});
    if (k == 0) continue;
    entries.push_back({row(k), row(k - 1), -1});
    entries.push_back({row(k - 1), row(k), -1});
  }
  const HostCsrMatrix<double> A = matrix_of(alone, 2 * kHalf, entries);
  EXPECT_EQ(graph_null_space<double>(alone, A.view(), 5).dimension, 0);
  test::on_threads(2, [&](HostContext& context) {
    const RowRanges rows = equal_rows(A.rows(), 2);
    const auto part = scatter(context, A.view(), rows, rows);
    EXPECT_FALSE(shows_no_null_vector(context, part.view()));
  });
}

}  // namespace
}  // namespace heddle
