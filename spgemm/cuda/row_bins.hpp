#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>
#include <vector>

/// Rows sorted into bins by what they need, so that each kernel gets rows that are alike.
namespace heddle::detail {

/// The rows of each bin, ascending within it.
struct RowBins {
  DeviceIntegers rows;
  std::vector<Index> begins{0};  ///< bin b has the rows begins[b] … begins[b+1] − 1 of `rows`

  Index count(int bin) const {
    const auto b = static_cast<std::size_t>(bin);
    return begins[b + 1] - begins[b];
  }
  const std::int32_t* first(int bin) const {
    return rows.data() + begins[static_cast<std::size_t>(bin)];
  }
};

/// Row i is in the bin bins[i], 0 … count − 1, or in none if that is `count`. Waits for the device.
RowBins sort_into_bins(CudaContext& context, DeviceIntegers bins, int count);

}  // namespace heddle::detail
