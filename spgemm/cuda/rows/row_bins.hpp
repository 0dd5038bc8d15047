#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <vector>

/// Rows sorted into bins by what they need, so that each kernel gets rows that are alike.
namespace heddle::detail {

inline constexpr int kMostBins = 32;

/// The counts that kernels make while they choose bins, in device memory.
struct BinCounts {
  unsigned long long rows[kMostBins];   ///< rows per bin
  unsigned long long taken[kMostBins];  ///< of these, those that were collected
  unsigned long long multiplications;   ///< of all rows
  unsigned long long leading_products;  ///< multiplications of the rows in the bins
  unsigned long long leading_blocks;    ///< the same with blocks of columns of B as factors
  unsigned long long longest;           ///< entries of the longest row of B that is needed
  unsigned long long entries;           ///< of C, counted with the bins for its values
};

/// The rows of each bin. Their order differs from run to run, which no result depends on: each row
/// is computed for itself.
struct RowBins {
  DeviceIntegers rows;
  std::vector<Index> begins{0};  ///< bin b has the rows begins[b] … begins[b+1] − 1 of `rows`

  /// Sets the begins of `bins` bins.
  void divide(const BinCounts& counts, int bins) {
    for (int bin = 0; bin < bins; ++bin) {
      begins.push_back(begins.back() + static_cast<Index>(counts.rows[bin]));
    }
  }

  Index count(int bin) const {
    const auto b = static_cast<std::size_t>(bin);
    return begins[b + 1] - begins[b];
  }
  const std::int32_t* first(int bin) const {
    return rows.data() + begins[static_cast<std::size_t>(bin)];
  }
};

/// A buffer for `BinCounts`, all 0.
Buffer<BinCounts, DeviceSpace> no_counts(CudaContext& context);

/// Row i is in the bin bins[i], 0 … count − 1, or in none if that is `count`. `counted`: the rows
/// per bin. `counts` ← all that was counted. Waits for the device.
RowBins collect_bins(CudaContext& context, const DeviceIntegers& bins, int count,
                     Buffer<BinCounts, DeviceSpace>& counted, BinCounts& counts);

}  // namespace heddle::detail
