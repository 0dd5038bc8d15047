#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/reorder/order_features.hpp>
#include <heddle/spmm/reorder/row_order.hpp>
#include <numeric>
#include <random>
#include <support/matrices.hpp>
#include <vector>

namespace heddle {
namespace {

using Order = std::vector<std::int32_t>;

Order shuffled(Index size, unsigned seed = 3) {
  Order order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

bool is_permutation_of_rows(Order order, Index rows) {
  std::sort(order.begin(), order.end());
  for (Index i = 0; i < rows; ++i) {
    if (std::ssize(order) != rows || order[static_cast<std::size_t>(i)] != i) return false;
  }
  return std::ssize(order) == rows;
}

bool has_metis() { return detail::no_parts_reason(10, 10).empty(); }

std::vector<RowOrder> found_orders() {
  std::vector<RowOrder> orders = {RowOrder::rcm, RowOrder::radix, RowOrder::jaccard};
  if (has_metis()) orders.push_back(RowOrder::metis);
  return orders;
}

class RowOrderTest : public testing::Test {
 protected:
  HostCsrMatrix<double> mesh(const char* name, std::vector<Index> size) {
    return generate<double>(context, {name, std::move(size)});
  }
  HostCsrMatrix<double> mixed(const HostCsrMatrix<double>& A) {
    return reordered<double>(context, A.view(), shuffled(A.rows()));
  }
  MatrixFeatures features(const HostCsrMatrix<double>& A) {
    return matrix_features<double>(context, A.view());
  }
  HostCsrMatrix<double> in_order(const HostCsrMatrix<double>& A, RowOrder order) {
    return reordered<double>(context, A.view(), order_rows(context, pattern_of(A.view()), order));
  }

  HostContext context{2};
};

TEST_F(RowOrderTest, PermutesTheRowsOfOddMatrices) {
  const auto columns_of = [](Index i) {
    return i % 3 == 0 ? std::vector<Index>{} : std::vector<Index>{i / 2, 49};
  };
  const std::vector<test::TestMatrix<double>> matrices = {
      test::matrix_with_pattern<double>(0, 0, [](Index) { return std::vector<Index>{}; }),
      test::matrix_with_pattern<double>(5, 5, [](Index) { return std::vector<Index>{}; }),
      test::matrix_with_pattern<double>(1, 1, [](Index) { return std::vector<Index>{0}; }),
      test::matrix_with_pattern<double>(40, 40, [](Index i) { return std::vector<Index>{i}; }),
      test::matrix_with_pattern<double>(50, 50, columns_of),  // not symmetric, empty rows
      test::matrix_with_pattern<double>(90, 50, columns_of),  // not square
  };
  for (const auto& A : matrices) {
    const RowPattern pattern = pattern_of(A.view());
    for (const RowOrder order : found_orders()) {
      if (!no_row_order_reason(order, pattern).empty()) continue;
      EXPECT_TRUE(is_permutation_of_rows(order_rows(context, pattern, order), A.rows))
          << row_order_name(order) << ", " << A.rows << " x " << A.cols;
    }
    EXPECT_TRUE(order_rows(context, pattern, RowOrder::none).empty());
  }
}

TEST_F(RowOrderTest, RefusesWhatCannotBeFound) {
  const auto A = test::matrix_with_pattern<double>(3, 2, [](Index) { return std::vector{0, 1}; });
  EXPECT_THROW(order_rows(context, pattern_of(A.view()), RowOrder::rcm), InvalidArgument);
  EXPECT_THROW(order_rows(context, pattern_of(A.view()), RowOrder::metis), InvalidArgument);
  const auto square =
      test::matrix_with_pattern<double>(3, 3, [](Index i) { return std::vector{i}; });
  if (!has_metis()) {
    EXPECT_THROW(order_rows(context, pattern_of(square.view()), RowOrder::metis), InvalidArgument);
  }
}

/// The bandwidth of a path is 1 in the order from end to end.
TEST_F(RowOrderTest, CuthillMcKeeFindsTheEndsOfPaths) {
  const HostCsrMatrix<double> path = mixed(mesh("laplace1d", {301}));
  EXPECT_GT(features(path).bandwidth, 100);
  EXPECT_EQ(features(in_order(path, RowOrder::rcm)).bandwidth, 1);
}

/// The binary numbers 110, 101, 100, 011, in descending order.
TEST_F(RowOrderTest, RadixSortsBinaryNumbers) {
  const std::vector<std::vector<Index>> rows = {{0}, {1, 2}, {0, 2}, {0, 1}};
  const auto A = test::matrix_with_pattern<double>(
      4, 3, [&](Index i) { return rows[static_cast<std::size_t>(i)]; });
  EXPECT_EQ(order_rows(context, pattern_of(A.view()), RowOrder::radix), (Order{3, 2, 0, 1}));
}

/// Meshes of all kinds, permuted at random, get back the bandwidth and the reuse of their own
/// numbering.
TEST_F(RowOrderTest, RandomlyPermutedMeshesRecover) {
  const HostCsrMatrix<double> meshes[] = {
      mesh("laplace3d", {20, 20, 20}), mesh("stencil27", {16, 16, 16}),
      mesh("elasticity3d", {9, 9, 9}), mesh("laplace2d", {70, 70})};
  for (const HostCsrMatrix<double>& natural : meshes) {
    const MatrixFeatures before = features(natural);
    const HostCsrMatrix<double> random = mixed(natural);
    ASSERT_LT(features(random).reuse_8, 0.85 * before.reuse_8);
    const MatrixFeatures rcm = features(in_order(random, RowOrder::rcm));
    EXPECT_LT(rcm.mean_bandwidth, 2 * before.mean_bandwidth);
    EXPECT_GT(rcm.reuse_8, 0.9 * before.reuse_8);
    EXPECT_GT(rcm.reuse_128, 0.8 * before.reuse_128);
    EXPECT_EQ(rcm.node_size, before.node_size);  // the unknowns of a node are found again
    for (const RowOrder order : found_orders()) {
      EXPECT_GT(features(in_order(random, order)).reuse_8, 1.05 * features(random).reuse_8)
          << row_order_name(order);
    }
  }
}

TEST_F(RowOrderTest, KeepsTheUnknownsOfANodeTogether) {
  const HostCsrMatrix<double> A = mesh("elasticity3d", {5, 5, 5});
  for (const RowOrder order : found_orders()) {
    const Order rows = order_rows(context, pattern_of(A.view()), order, 3);
    ASSERT_TRUE(is_permutation_of_rows(rows, A.rows()));
    for (std::size_t k = 0; k < rows.size(); k += 3) {
      EXPECT_EQ(rows[k] % 3, 0);
      EXPECT_EQ(rows[k + 1], rows[k] + 1);
      EXPECT_EQ(rows[k + 2], rows[k] + 2);
    }
  }
}

TEST_F(RowOrderTest, DoesNotDependOnTheNumberOfThreads) {
  const HostCsrMatrix<double> A = mixed(mesh("laplace3d", {12, 12, 12}));
  HostContext one(1);
  for (const RowOrder order : found_orders()) {
    EXPECT_EQ(order_rows(one, pattern_of(A.view()), order),
              order_rows(context, pattern_of(A.view()), order));
  }
}

/// R(T) from samples, without forming the ordered matrix, is that of the ordered matrix.
TEST_F(RowOrderTest, SampledFeaturesAreThoseOfTheOrderedMatrix) {
  const HostCsrMatrix<double> A = mixed(mesh("stencil27", {12, 12, 12}));
  const Order order = order_rows(context, pattern_of(A.view()), RowOrder::rcm);
  const MatrixFeatures sampled = detail::sampled_features(pattern_of(A.view()), order);
  const MatrixFeatures exact = features(in_order(A, RowOrder::rcm));
  EXPECT_NEAR(sampled.reuse_8, exact.reuse_8, 1e-12 * exact.reuse_8);
  EXPECT_NEAR(sampled.reuse_128, exact.reuse_128, 1e-12 * exact.reuse_128);
  EXPECT_NEAR(sampled.reuse_2048, exact.reuse_2048, 1e-12 * exact.reuse_2048);
  EXPECT_NEAR(sampled.column_run, exact.column_run, 1e-12 * exact.column_run);
  EXPECT_EQ(sampled.row_max, exact.row_max);
  EXPECT_EQ(sampled.rows_within_128, exact.rows_within_128);
}

/// The part of the rows with an entry in the other half, counted by entries.
double rows_across(const HostCsrMatrix<double>& matrix) {
  const RowPattern A = pattern_of(matrix.view());
  const Index half = A.rows / 2;
  std::vector<double> across(static_cast<std::size_t>(A.rows), 0.0);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      if ((i < half) != (A.columns[e] < half)) across[static_cast<std::size_t>(i)] = 1;
    }
  }
  return std::accumulate(across.begin(), across.end(), 0.0) / static_cast<double>(A.rows);
}

TEST_F(RowOrderTest, RowsAcrossAreThoseOfTheOrderedMatrix) {
  const HostCsrMatrix<double> A = mixed(mesh("laplace3d", {9, 9, 9}));
  const RowPattern pattern = pattern_of(A.view());
  const HostCsrMatrix<double> good = in_order(A, RowOrder::rcm);
  const double own = detail::sampled_features(pattern, {}).rows_across;
  const double rcm =
      detail::sampled_features(pattern, order_rows(context, pattern, RowOrder::rcm)).rows_across;
  EXPECT_DOUBLE_EQ(own, rows_across(A));
  EXPECT_DOUBLE_EQ(rcm, rows_across(good));
  EXPECT_LT(rcm, 0.5 * own);
  // Breadth-first order is what reverse Cuthill-McKee refines. An order of an expander's rows that
  // keeps them in their halves does not exist.
  EXPECT_NEAR(detail::possible_features(pattern).rows_across, rcm, 0.1);
  EXPECT_EQ(detail::ideal_features(pattern).rows_across, 0);
  EXPECT_NEAR(detail::own_rows_across(pattern), own, 0.1);
  EXPECT_NEAR(detail::possible_rows_across(pattern), rcm, 0.1);
  const HostCsrMatrix<double> expander = mesh("trefethen", {2000});
  EXPECT_GT(detail::possible_features(pattern_of(expander.view())).rows_across, 0.7);
  EXPECT_GT(detail::possible_rows_across(pattern_of(expander.view())), 0.7);
}

/// No order of a matrix without empty columns reuses rows of B more than the ideal features say.
TEST_F(RowOrderTest, IdealFeaturesBoundAllOrders) {
  for (const HostCsrMatrix<double>& A :
       {mesh("laplace3d", {40, 40, 40}), mixed(mesh("stencil27", {20, 20, 20})),
        mesh("random_symmetric", {30000}), mesh("trefethen", {2000})}) {
    const MatrixFeatures ideal = detail::ideal_features(pattern_of(A.view()));
    for (const MatrixFeatures& found : {features(A), features(in_order(A, RowOrder::rcm)),
                                        features(in_order(A, RowOrder::radix))}) {
      EXPECT_LE(found.reuse_8, ideal.reuse_8);
      EXPECT_LE(found.reuse_32, ideal.reuse_32);
      EXPECT_LE(found.reuse_128, ideal.reuse_128);
      EXPECT_LE(found.reuse_2048, ideal.reuse_2048);
      EXPECT_LE(found.reuse_32768, ideal.reuse_32768);
      EXPECT_LE(found.column_run, ideal.column_run);
    }
  }
}

/// A mesh beyond the caches: kept where it was permuted and where enough products follow.
TEST_F(RowOrderTest, IsKeptWhereItPays) {
  const HostCsrMatrix<double> natural = mesh("laplace3d", {48, 48, 48});
  const HostCsrMatrix<double> random = mixed(natural);
  const auto chosen = [&](const HostCsrMatrix<double>& A, double products) {
    return choose_order(context, pattern_of(A.view()), {.N = 32, .count = products});
  };
  EXPECT_EQ(chosen(natural, 1000).order, RowOrder::none);
  EXPECT_EQ(chosen(random, 1).order, RowOrder::none);
  const OrderChoice kept = chosen(random, 1000);
  EXPECT_EQ(kept.order, RowOrder::rcm);
  EXPECT_TRUE(is_permutation_of_rows(kept.rows, random.rows()));
  EXPECT_NE(kept.reason.find("predicted per product"), std::string::npos);
  // A GPU multiplies so fast that a few products repay nothing, a million do.
  const OrderedProducts few{.N = 32, .count = 150, .gpu = DeviceSpeed{}};
  OrderedProducts many = few;
  many.count = 1e6;
  EXPECT_EQ(choose_order(context, pattern_of(random.view()), few).order, RowOrder::none);
  EXPECT_EQ(choose_order(context, pattern_of(random.view()), many).order, RowOrder::rcm);
}

/// Where the rows of B fit into the cache of a core, an order can only keep rows from another core.
TEST_F(RowOrderTest, IsNotSearchedForWhereBlocksStayInTheCache) {
  const HostCsrMatrix<double> natural = mesh("laplace3d", {12, 12, 12});
  const HostCsrMatrix<double> A = mixed(natural);
  const auto chosen = [&](const HostCsrMatrix<double>& matrix, double products) {
    return choose_order(context, pattern_of(matrix.view()), {.N = 8, .count = products});
  };
  const OrderChoice few = chosen(A, 10);
  EXPECT_EQ(few.order, RowOrder::none);
  EXPECT_NE(few.reason.find("fits into the cache"), std::string::npos) << few.reason;
  EXPECT_EQ(chosen(A, 1e4).order, RowOrder::rcm);
  EXPECT_EQ(chosen(natural, 1e4).order, RowOrder::none);
  EXPECT_EQ(chosen(mesh("trefethen", {2000}), 1e4).order, RowOrder::none);
  RowPattern large = pattern_of(A.view());
  large.rows = large.cols = Index{1} << 30;
  EXPECT_TRUE(no_order_helps(large, {.N = 1}).empty());
  EXPECT_TRUE(no_order_helps(pattern_of(A.view()), {.N = 1, .gpu = DeviceSpeed{}}).empty());
}

}  // namespace
}  // namespace heddle
