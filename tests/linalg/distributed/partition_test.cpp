#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numeric>
#include <random>
#include <support/random_block.hpp>
#include <vector>

namespace heddle {
namespace {

using Order = std::vector<std::int32_t>;

Order shuffled(Index n) {
  Order order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  return order;
}

TEST(Partition, KeepsTheOrderOfMeshesInOrder) {
  HostContext context(1);
  const HostCsrMatrix<double> A = generate<double>(context, {"laplace3d", {10, 10, 80}});
  const RowRanges ranges = balanced_rows(A.view(), 4);
  // The two parts inside need 100 rows on either side, of about 2000.
  EXPECT_NEAR(halo_share(A.view(), ranges), 0.1, 0.005);
  for (const Distribution asked : {Distribution::automatic, Distribution::rows}) {
    const Partition found = partition(A.view(), 2, asked);
    EXPECT_TRUE(found.order.empty());
    EXPECT_EQ(found.ranges.begins, balanced_rows(A.view(), 2).begins);
    EXPECT_NE(found.reason.find("rows in order"), std::string::npos) << found.reason;
  }
}

/// Rows of a node stay together, in order and by METIS.
TEST(Partition, KeepsNodesTogether) {
  HostContext context(1);
  const HostCsrMatrix<double> A = generate<double>(context, {"elasticity3d", {9, 7, 8}});
  double whole = 0;
  for (Index i = 0; i < A.rows(); ++i) whole += static_cast<double>(row_cost(A.view(), i));
  for (const int count : {2, 5, 7}) {
    std::vector<Distribution> kinds{Distribution::rows};
    if (detail::no_parts_reason(A.rows(), A.nnz()).empty()) kinds.push_back(Distribution::metis);
    for (const Distribution asked : kinds) {
      const Partition found = partition(A.view(), count, asked, 3);
      EXPECT_EQ(found.ranges.rows(), A.rows());
      for (int k = 0; k < count; ++k) {
        const RowRange rows = found.ranges.of(k);
        EXPECT_EQ(rows.first % 3, 0);
        Index cost = 0;
        for (Index i = rows.first; i < rows.first + rows.local; ++i) {
          cost += row_cost(A.view(),
                           found.order.empty() ? i : found.order[static_cast<std::size_t>(i)]);
        }
        EXPECT_NEAR(static_cast<double>(cost), whole / count, .1 * whole / count);
      }
      for (std::size_t i = 0; i < found.order.size(); ++i) {
        EXPECT_EQ(found.order[i] % 3, static_cast<std::int32_t>(i % 3));
        EXPECT_EQ(found.order[i] - found.order[i - i % 3], static_cast<std::int32_t>(i % 3));
      }
    }
  }
  // Without a node for each process, or whole nodes, single rows are taken.
  const HostCsrMatrix<double> few = generate<double>(context, {"laplace1d", {10}});
  EXPECT_EQ(partition(few.view(), 4, Distribution::rows, 5).ranges.begins.size(), 5u);
  EXPECT_EQ(partition(few.view(), 2, Distribution::rows, 3).ranges.of(0).local, 5);
  EXPECT_THROW(balanced_rows(few.view(), 4, 1, 5), InvalidArgument);
}

TEST(Partition, FindsPartsOfAShuffledMesh) {
  HostContext context(1);
  const HostCsrMatrix<double> grid = generate<double>(context, {"laplace2d", {40, 50}});
  const HostCsrMatrix<double> A = reordered(context, grid.view(), shuffled(2000));
  if (!detail::no_parts_reason(A.rows(), A.nnz()).empty()) {
    EXPECT_THROW(partition(A.view(), 3, Distribution::metis), InvalidArgument);
    EXPECT_TRUE(partition(A.view(), 3, Distribution::automatic).order.empty());
    GTEST_SKIP() << "skipped: this build has no METIS";
  }
  EXPECT_TRUE(partition(A.view(), 3, Distribution::rows).order.empty());
  const Partition found = partition(A.view(), 3, Distribution::automatic);
  ASSERT_EQ(found.order.size(), 2000u);
  EXPECT_TRUE(std::is_permutation(found.order.begin(), found.order.end(), shuffled(2000).begin()));
  EXPECT_GT(halo_share(A.view(), balanced_rows(A.view(), 3)), 1.0);
  const HostCsrMatrix<double> B = reordered(context, A.view(), found.order);
  EXPECT_LT(halo_share(B.view(), found.ranges), 0.15);  // two cuts of 40 rows of 667 each
  for (int k = 0; k < 3; ++k) {
    const RowRange rows = found.ranges.of(k);
    EXPECT_NEAR(static_cast<double>(rows.local), 2000.0 / 3, 40);
    const auto first = found.order.begin() + rows.first;
    EXPECT_TRUE(std::is_sorted(first, first + rows.local));
  }
  EXPECT_EQ(partition(A.view(), 3, Distribution::metis).order, found.order);
}

TEST(Partition, ReordersRowsAndColumns) {
  HostContext context(2);
  const HostCsrMatrix<double> A = generate<double>(context, {"random_uniform", {300}});
  const Order order = shuffled(300);
  const HostCsrMatrix<double> B = reordered(context, A.view(), order);
  test::RandomBlock<double> dense_A(300, 300, 300, 1), dense_B(300, 300, 300, 2);
  const auto fill = [](const CsrView<double, HostSpace>& M, BlockView<double, HostSpace> dense) {
    for (Index i = 0; i < M.rows; ++i) {
      std::fill_n(dense.data() + i * dense.ld(), M.cols, 0.0);
      EXPECT_TRUE(std::is_sorted(M.columns + M.row_offsets[i], M.columns + M.row_offsets[i + 1]));
      for (std::int64_t e = M.row_offsets[i]; e < M.row_offsets[i + 1]; ++e) {
        dense(i, M.columns[e]) = M.values[e];
      }
    }
  };
  fill(A.view(), dense_A.view());
  fill(B.view(), dense_B.view());
  Index different = 0;
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < 300; ++j) {
      different += dense_B.view()(i, j) != dense_A.view()(order[static_cast<std::size_t>(i)],
                                                          order[static_cast<std::size_t>(j)]);
    }
  }
  EXPECT_EQ(different, 0);

  test::RandomBlock<float> X(300, 3, 4, 3);
  const auto Y = reordered<float>(context, X.view(), order);
  const auto back = reordered<float>(context, Y.view(), order, true);
  for (Index i = 0; i < 300; ++i) {
    different += Y.view()(i, 2) != X.view()(order[static_cast<std::size_t>(i)], 2);
    different += back.view()(i, 0) != X.view()(i, 0);
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace heddle
