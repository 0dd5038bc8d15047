#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <set>
#include <string>
#include <support/matrices.hpp>
#include <utility>
#include <vector>

namespace heddle {
namespace {

TEST(BlockCounts, AgreeWithASetOfTouchedBlocks) {
  HostContext context(2);
  const auto A = test::power_law_matrix<double>(90, 130, 120);
  for (const BlockShape shape : {BlockShape{16, 8}, BlockShape{16, 16}, BlockShape{7, 1}}) {
    std::set<std::pair<Index, Index>> touched;
    for (Index i = 0; i < A.rows; ++i) {
      for (auto k = A.offsets[static_cast<std::size_t>(i)];
           k < A.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
        touched.insert({i / shape.height, A.columns[static_cast<std::size_t>(k)] / shape.width});
      }
    }
    const BlockCounts counts = count_blocks(context, pattern_of(A.view()), shape);
    EXPECT_EQ(counts.blocks(), static_cast<Index>(touched.size()));
    for (std::size_t p = 0; p < counts.per_block_row.size(); ++p) {
      const auto in_row = std::count_if(touched.begin(), touched.end(), [&](const auto& block) {
        return block.first == static_cast<Index>(p);
      });
      EXPECT_EQ(counts.per_block_row[p], in_row);
    }
  }
}

TEST(BlockCounts, StatisticsByHand) {
  const BlockCounts counts{{2, 2}, 12, {1, 2, 3, 0, 4}};
  EXPECT_EQ(counts.blocks(), 10);
  EXPECT_EQ(counts.mean(), 2);
  EXPECT_DOUBLE_EQ(counts.deviation() * counts.deviation(), 2);
  EXPECT_EQ(counts.quantile(0), 0);
  EXPECT_EQ(counts.quantile(.5), 2);
  EXPECT_EQ(counts.quantile(1), 4);
  EXPECT_DOUBLE_EQ(counts.fill(), .3);
  EXPECT_EQ(counts.block_csr_bytes(2), 10 * (4 * 2 + 4) + 6 * 8);
}

TEST(BlockCounts, BytesAreThoseOfTheFormats) {
  HostContext context(2);
  const auto A = test::random_matrix<double>(100, 90, 4);
  const auto bytes = [](const auto& buffer) {
    return static_cast<double>(buffer.size() * sizeof(buffer[0]));
  };
  const auto blocks = make_block_csr<Tf32>(context, A.view(), {16, 8});
  EXPECT_EQ(bytes(blocks.row_offsets) + bytes(blocks.columns) + bytes(blocks.values),
            count_blocks(context, pattern_of(A.view()), {16, 8}).block_csr_bytes(sizeof(Tf32)));
  Index groups = 0;
  for (Index first = 0; first < A.rows; first += 16) {
    std::set<std::int32_t> columns(
        A.view().columns + A.view().row_offsets[first],
        A.view().columns + A.view().row_offsets[std::min(first + 16, A.rows)]);
    groups += (std::ssize(columns) + 7) / 8;
  }
  const BlockCounts columns = count_blocks(context, pattern_of(A.view()), {16, 1});
  EXPECT_EQ(column_groups(columns, 8), groups);
  EXPECT_EQ(column_panel_bytes(columns, 8, sizeof(Half)),
            static_cast<double>(groups) * (16 * 8 * 2 + 8 * 4) + (7 + 1) * 8);
}

TEST(BlockCounts, NamesWhatIsWrongWithAnOrder) {
  HostContext context(1);
  const auto A = test::band_matrix<double>(3, 3, 1);
  const auto refusal = [&](const BlockOrder& order, BlockShape shape = {16, 8}) {
    try {
      count_blocks(context, pattern_of(A.view()), shape, order);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal({{0, 1}, {}}), "the order of 3 rows has 2 entries");
  EXPECT_EQ(refusal({{0, 1, 3}, {}}), "the order of 3 rows contains 3");
  EXPECT_EQ(refusal({{}, {2, 1, 2}}), "the order of 3 columns contains 2 twice");
  EXPECT_EQ(refusal({}, {0, 8}), "blocks of 0 rows and 8 columns: both must be positive");
  EXPECT_EQ(refusal({{2, 0, 1}, {}}), "");
}

}  // namespace
}  // namespace heddle
