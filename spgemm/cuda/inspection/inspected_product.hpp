#pragma once

#include <heddle/linalg/data/views.hpp>
#include <heddle/spgemm/cuda/pattern/pattern.hpp>

namespace heddle::detail {

/// The sizes and rows of C = A B that are found before its columns and values are computed.
struct InspectedProduct {
  Buffer<std::int64_t, DeviceSpace> row_offsets;  ///< of C
  RunPlaces places;                               ///< none without runs
  RowBins pattern_rows;                           ///< see `bin_by_bound`
  RowBins value_rows;                             ///< see `bin_by_size`
  Index multiplications = 0;
  Index entries = 0;       ///< of C
  Index longest_of_B = 0;  ///< entries of the longest row of B that is needed
  bool by_blocks = false;  ///< whether the rows of B are read by blocks for the pattern

  /// Takes the counts of `bin_by_bound`, whose bins are known.
  template <class T>
  void set_counts(const BinCounts& counts, const CsrView<T, DeviceSpace>& A);

  /// Whether some of the `rows` rows have the pattern of the row before, moved by one column.
  bool has_runs(Index rows) const { return pattern_rows.begins.back() < rows; }
};

/// The memory of the blocks of a matrix, see `write_blocks`.
struct RowBlocks {
  Buffer<ColumnBlock, DeviceSpace> blocks;
  DeviceIntegers counts;
};

template <class T>
void InspectedProduct::set_counts(const BinCounts& counts, const CsrView<T, DeviceSpace>& A) {
  const auto products = static_cast<Index>(counts.leading_products);
  const auto blocks = static_cast<Index>(counts.leading_blocks);
  multiplications = static_cast<Index>(counts.multiplications);
  longest_of_B = static_cast<Index>(counts.longest);
  // To write the blocks takes longer than to find the first rows of long runs by columns.
  constexpr Index kLeastShareOfRows = 4;
  by_blocks =
      blocks_pay(products, blocks) && pattern_rows.begins.back() * kLeastShareOfRows >= A.rows;
}

}  // namespace heddle::detail
