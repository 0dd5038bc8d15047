#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/spmm/low_precision/kernel_times.hpp>
#include <heddle/spmm/low_precision/sliced_rows.hpp>
#include <map>
#include <set>
#include <support/matrices.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// The entries (row, column) of a sliced matrix and their values. Each must be there once.
std::map<std::pair<std::int32_t, std::int32_t>, float> entries_of(const SlicedRows<Half>& sliced) {
  std::map<std::pair<std::int32_t, std::int32_t>, float> entries;
  for (const SliceShare& share : sliced.shares) {
    std::map<std::int32_t, std::int32_t> row_of_slot;
    for (std::int32_t k = share.first_cut_row; k < share.end_cut_row; ++k) {
      const CutRow& cut = sliced.cut_rows[static_cast<std::size_t>(k)];
      for (std::int32_t slot = cut.first_slot; slot < cut.end_slot; ++slot) {
        EXPECT_TRUE(row_of_slot.emplace(slot, cut.row).second);
        EXPECT_LT(slot, sliced.most_slots);
      }
    }
    for (std::int32_t s = share.first_slice; s < share.end_slice; ++s) {
      const RowSlice& slice = sliced.slices[static_cast<std::size_t>(s)];
      for (Index at = 0; at < slice.loads * kSliceLanes; ++at) {
        const std::int32_t target =
            sliced.targets[static_cast<std::size_t>(s * kPiecesPerSlice + at % kPiecesPerSlice)];
        for (Index e = 0; e < kEntriesPerLoad; ++e) {
          const auto place = static_cast<std::size_t>((slice.first + at) * kEntriesPerLoad + e);
          if (sliced.columns[place] < 0) continue;
          EXPECT_NE(target, kNoPiece);
          const std::int32_t row = target >= 0 ? target : row_of_slot.at(kFirstSlot - target);
          EXPECT_TRUE(
              entries.emplace(std::pair(row, sliced.columns[place]), sliced.values[place].value())
                  .second);
        }
      }
    }
  }
  return entries;
}

void expect_entries(const test::TestMatrix<float>& A, const RowGroups& groups, Index longest,
                    Index most) {
  HostContext one(1);
  HostContext three(3);
  const SlicedRows<Half> sliced = slice_rows<Half>(one, A.view(), groups, longest, most);
  const SlicedRows<Half> again = slice_rows<Half>(three, A.view(), groups, longest, most);
  EXPECT_EQ(sliced.columns, again.columns);
  EXPECT_EQ(sliced.targets, again.targets);
  const auto entries = entries_of(sliced);
  EXPECT_EQ(entries.size(), A.columns.size());
  for (Index row = 0; row < A.rows; ++row) {
    for (Index k = A.view().row_offsets[row]; k < A.view().row_offsets[row + 1]; ++k) {
      const auto found = entries.find({static_cast<std::int32_t>(row), A.view().columns[k]});
      ASSERT_NE(found, entries.end());
      EXPECT_EQ(found->second, Half::round(static_cast<double>(A.view().values[k])).value());
    }
  }
  // Every row has a target, whether it has entries or not.
  std::set<std::int32_t> rows;
  for (const std::int32_t target : sliced.targets) {
    if (target >= 0) rows.insert(target);
  }
  for (const CutRow& cut : sliced.cut_rows) rows.insert(cut.row);
  EXPECT_EQ(static_cast<Index>(rows.size()), A.rows);
}

TEST(SlicedRows, HoldEveryEntryOnce) {
  for (const auto& A :
       {test::random_matrix<float>(203, 187, 9), test::power_law_matrix<float>(300, 900, 800),
        test::random_matrix<float>(5, 300, 200), test::random_matrix<float>(900, 5, 2)}) {
    expect_entries(A, neighbouring_rows(A.view(), 16, 64), 16, 64);
    expect_entries(A, balanced_rows(A.view(), 7), 100, 64);
  }
}

TEST(SlicedRows, NeighbouringRowsFillThreadBlocksWithPieces) {
  const auto A = test::power_law_matrix<float>(500, 900, 800);
  const RowGroups groups = neighbouring_rows(A.view(), 16, 64);
  Index row = 0;
  for (Index group = 0; group < groups.count(); ++group) {
    Index pieces = 0;
    for (Index k = groups.offsets[static_cast<std::size_t>(group)];
         k < groups.offsets[static_cast<std::size_t>(group + 1)]; ++k, ++row) {
      EXPECT_EQ(groups.rows[static_cast<std::size_t>(k)], row);
      pieces += pieces_of_row(A.view().row_offsets[row + 1] - A.view().row_offsets[row], 16, 64);
    }
    EXPECT_GE(pieces, 1);
    EXPECT_LE(pieces, 64);
  }
  EXPECT_EQ(row, A.rows);
}

TEST(SlicedRows, BalancedGroupsHaveAboutTheSameNumberOfEntries) {
  const auto A = test::power_law_matrix<float>(2000, 3000, 700);
  const RowGroups groups = balanced_rows(A.view(), 9);
  ASSERT_EQ(groups.count(), 9);
  std::vector<Index> costs;
  for (std::size_t group = 0; group < 9; ++group) {
    Index cost = 0;
    for (Index k = groups.offsets[group]; k < groups.offsets[group + 1]; ++k) {
      const std::int32_t row = groups.rows[static_cast<std::size_t>(k)];
      cost += A.view().row_offsets[row + 1] - A.view().row_offsets[row] + kRowCost;
    }
    costs.push_back(cost);
  }
  const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
  EXPECT_LE(*most, *least + 700 + kRowCost);
}

TEST(KernelTimes, GrowWithWhatTheyDependOn) {
  const ProductCounts counts{.cols = 1000,
                             .nnz = 50'000,
                             .mean_row = 50,
                             .blocks = 400,
                             .groups = 300,
                             .gathered_lines = 9000,
                             .stages = true};
  EXPECT_LT(panels_seconds(counts), blocks_seconds(counts));
  ProductCounts more = counts;
  more.groups *= 10;
  more.gathered_lines *= 3;
  EXPECT_GT(panels_seconds(more), panels_seconds(counts));
  EXPECT_GT(slices_seconds(more), slices_seconds(counts));
  EXPECT_GT(rows_seconds(more), rows_seconds(counts));
  ProductCounts longer = counts;
  longer.value_bytes = 4;
  EXPECT_GT(slices_seconds(longer), slices_seconds(counts));
  ProductCounts wider = counts;
  wider.columns = 70;
  for (const auto seconds :
       {rows_seconds, blocks_seconds, panels_seconds, slices_seconds, staged_slices_seconds}) {
    EXPECT_GT(seconds(wider), seconds(counts));
  }
  ProductCounts alike = counts;
  alike.alike_rows = 4;
  EXPECT_LT(rows_seconds(alike), rows_seconds(counts));
  ProductCounts smaller = counts;
  smaller.multiprocessors = 66;
  EXPECT_GT(staged_slices_seconds(smaller), staged_slices_seconds(counts));
  more.stages = false;
  EXPECT_GT(staged_slices_seconds(more), 1);
  more.tensor_cores = false;
  EXPECT_GT(panels_seconds(more), 1);
  EXPECT_LT(rows_seconds(more), 1);
}

}  // namespace
}  // namespace heddle::detail
