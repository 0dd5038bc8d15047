#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <numeric>
#include <random>
#include <string>
#include <support/matrices.hpp>
#include <vector>

namespace heddle {
namespace {

using test::TestMatrix;
constexpr BlockShape kShape{16, 16};

std::vector<std::int32_t> shuffled(Index size, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

/// Row i of the result is row rows[i] of A. Column j of A becomes column columns[j].
TestMatrix<double> permuted(const TestMatrix<double>& A, const std::vector<std::int32_t>& rows,
                            const std::vector<std::int32_t>& columns) {
  return test::matrix_with_pattern<double>(A.rows, A.cols, [&](Index i) {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
    std::vector<std::int32_t> result;
    for (auto k = A.offsets[row]; k < A.offsets[row + 1]; ++k) {
      const auto column = static_cast<std::size_t>(A.columns[static_cast<std::size_t>(k)]);
      result.push_back(columns[column]);
    }
    std::sort(result.begin(), result.end());
    return result;
  });
}

std::vector<std::int32_t> identity(Index size) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Dense 16×16 blocks (I, J) with |I − J| ≤ half_width, of 40 block rows.
TestMatrix<double> block_band(Index half_width) {
  constexpr Index kRows = 40 * 16;
  return test::matrix_with_pattern<double>(kRows, kRows, [&](Index i) {
    const Index first = std::max<Index>(0, i / 16 - half_width) * 16;
    const Index end = std::min<Index>(40, i / 16 + half_width + 1) * 16;
    std::vector<Index> columns(static_cast<std::size_t>(end - first));
    std::iota(columns.begin(), columns.end(), first);
    return columns;
  });
}

class BlockOrderTest : public testing::Test {
 protected:
  Index blocks(const TestMatrix<double>& A, const BlockOrder& order = {}) {
    return count_blocks(context_, pattern_of(A.view()), kShape, order).blocks();
  }
  BlockOrdering ordering(const TestMatrix<double>& A, Reordering kind) {
    return order_for_blocks(context_, pattern_of(A.view()), kShape, kind);
  }
  /// Blocks of the ordering over those of A in its natural order.
  double growth(const BlockOrdering& found, const TestMatrix<double>& A) {
    return static_cast<double>(found.counts.blocks()) / static_cast<double>(blocks(A));
  }
  HostContext context_{2};
};

TEST_F(BlockOrderTest, PermutedRowsOfABlockBandComeBack) {
  for (const Index half_width : {0, 1, 3}) {
    const TestMatrix<double> A = block_band(half_width);
    const TestMatrix<double> P = permuted(A, shuffled(A.rows, 1), identity(A.cols));
    ASSERT_GT(blocks(P), 5 * blocks(A));
    EXPECT_LE(growth(ordering(P, Reordering::rows), A), 1.05) << half_width;
  }
}

TEST_F(BlockOrderTest, PermutedRowsAndColumnsOfABlockBandComeBack) {
  for (const Index half_width : {0, 1, 3}) {
    const TestMatrix<double> A = block_band(half_width);
    const TestMatrix<double> P = permuted(A, shuffled(A.rows, 1), shuffled(A.cols, 2));
    ASSERT_GT(blocks(P), 5 * blocks(A));
    EXPECT_LE(growth(ordering(P, Reordering::rows_and_columns), A), 1.05) << half_width;
  }
}

TEST_F(BlockOrderTest, PermutedBandsAndMeshesComeNearTheirNaturalOrder) {
  const TestMatrix<double> matrices[] = {test::band_matrix<double>(3000, 3000, 20),
                                         test::grid_matrix<double>(14, 14, 14)};
  const double allowed[] = {1.1, 2};
  for (std::size_t k = 0; k < 2; ++k) {
    const TestMatrix<double>& A = matrices[k];
    const std::vector<std::int32_t> order = shuffled(A.rows, 3);
    std::vector<std::int32_t> places(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) {
      places[static_cast<std::size_t>(order[p])] = static_cast<std::int32_t>(p);
    }
    const TestMatrix<double> P = permuted(A, order, places);
    const BlockOrdering found = ordering(P, Reordering::rows_and_columns);
    EXPECT_LE(growth(found, A), allowed[k]);
    EXPECT_EQ(found.counts.blocks(), blocks(P, found.order));
  }
}

TEST_F(BlockOrderTest, OrdersArePermutationsAndDoNotDependOnThreads) {
  HostContext one(1);
  const TestMatrix<double> matrices[] = {
      test::random_matrix<double>(90, 130, 2),         // with empty rows
      test::power_law_matrix<double>(400, 300, 300),   // rows that share columns with all others
      TestMatrix<double>{0, 5, {0}, {}, {}},           // no rows
      TestMatrix<double>{3, 0, {0, 0, 0, 0}, {}, {}},  // no columns
      test::matrix_with_pattern<double>(1, 4, [](Index) { return std::vector<Index>{2}; })};
  for (const TestMatrix<double>& A : matrices) {
    const RowPattern pattern = pattern_of(A.view());
    for (const Reordering kind : {Reordering::rows, Reordering::rows_and_columns}) {
      const BlockOrdering found = order_for_blocks(context_, pattern, kShape, kind);
      ASSERT_EQ(static_cast<Index>(found.order.rows.size()), A.rows);
      EXPECT_NO_THROW(check_order(pattern, found.order));
      const BlockOrdering again = order_for_blocks(one, pattern, kShape, kind);
      EXPECT_EQ(found.order.rows, again.order.rows);
      EXPECT_EQ(found.order.columns, again.order.columns);
      bool empty = false;
      for (const std::int32_t row : found.order.rows) {
        EXPECT_TRUE(!empty || pattern.length(row) == 0);
        empty = pattern.length(row) == 0;
      }
    }
  }
}

TEST_F(BlockOrderTest, TheBestOneNeverHasMoreBlocksThanTheNaturalOrder) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const TestMatrix<double> matrices[] = {test::random_matrix<double>(300, 300, 4, seed),
                                           test::band_matrix<double>(200, 200, 9),
                                           test::grid_matrix<double>(9, 9, 4),
                                           test::power_law_matrix<double>(200, 200, 100, .8, seed)};
    for (const TestMatrix<double>& A : matrices) {
      const BlockOrdering best = best_order_for_blocks(context_, pattern_of(A.view()), kShape, {});
      EXPECT_LE(best.counts.blocks(), blocks(A));
      EXPECT_EQ(best.counts.blocks(), blocks(A, best.order));
      EXPECT_EQ(best.kind == Reordering::none, best.order.rows.empty());
    }
  }
}

TEST_F(BlockOrderTest, GatheringColumnsMustPay) {
  const TestMatrix<double> A = block_band(1);
  const TestMatrix<double> P = permuted(A, shuffled(A.rows, 1), shuffled(A.cols, 2));
  const auto kind = [&](double per_gathered_block) {
    return best_order_for_blocks(context_, pattern_of(P.view()), kShape, {1, per_gathered_block})
        .kind;
  };
  const BlockOrdering rows = ordering(P, Reordering::rows);
  const BlockOrdering both = ordering(P, Reordering::rows_and_columns);
  const double gain =
      static_cast<double>(rows.counts.blocks()) / static_cast<double>(both.counts.blocks());
  ASSERT_GT(gain, 1);
  EXPECT_EQ(kind(1), Reordering::rows_and_columns);
  EXPECT_EQ(kind(gain * .99), Reordering::rows_and_columns);
  EXPECT_EQ(kind(gain * 1.01), Reordering::rows);
  EXPECT_EQ(best_order_for_blocks(context_, pattern_of(A.view()), kShape, {}).kind,
            Reordering::none);
}

TEST_F(BlockOrderTest, RefusesShapesAndOrdersThatDoNotFit) {
  const TestMatrix<double> A = block_band(0);
  EXPECT_THROW(cluster_rows(context_, pattern_of(A.view()), {0, 16}), InvalidArgument);
  EXPECT_THROW(cluster_rows(context_, pattern_of(A.view()), {16, -1}), InvalidArgument);
  EXPECT_THROW(cluster_rows(context_, pattern_of(A.view()), kShape, {0, 1}), InvalidArgument);
}

}  // namespace
}  // namespace heddle
