#pragma once

#include <heddle/spgemm/cuda/rows/operands.hpp>
#include <heddle/spgemm/cuda/rows/repeated_rows.hpp>
#include <heddle/spgemm/cuda/rows/row_bins.hpp>

/// The symbolic phase: the pattern of C = A B by hash tables of blocks of columns in shared memory.
namespace heddle::detail {

/// Whether B is read by blocks: where a block has at least two columns. The multiplications of the
/// leading rows, and their number with blocks as factors.
constexpr bool blocks_pay(Index leading_products, Index leading_blocks) {
  constexpr Index kLeastColumnsPerBlock = 2;
  return leading_products > 0 && leading_blocks * kLeastColumnsPerBlock <= leading_products;
}

/// The bins of the symbolic phase: `kTables` by the size of the table, one for longer rows, and two
/// for rows whose masks for all columns lie in shared memory.
inline constexpr int kTables = 9;
inline constexpr int kLongPattern = kTables;
inline constexpr int kMasksOfWarp = kTables + 1;
inline constexpr int kMasksOfBlock = kTables + 2;
inline constexpr int kPatternBins = kTables + 3;

/// The leading rows of all runs in bins, by the number of blocks in the rows of B that they need.
/// `blocks_of_B`: see `count_blocks`. `places`: see `RunPlaces`. `counts` ← all of
/// `BinCounts`.
RowBins bin_by_bound(CudaContext& context, const PatternFactors& factors,
                     const std::int64_t* rows_of_B, const DeviceIntegers& blocks_of_B,
                     const RunPlaces& places, BinCounts& counts);

/// sizes of all rows in the bins.
void count_rows(CudaContext& context, const PatternFactors& factors, const RowBins& bins,
                const RowSizes& sizes);

/// Writes the columns of all rows in the bins, whose places in C `row_offsets` gives.
void fill_rows(CudaContext& context, const PatternFactors& factors, const RowBins& bins,
               const std::int64_t* row_offsets, std::int32_t* columns);

}  // namespace heddle::detail
