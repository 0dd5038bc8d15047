#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {
class CudaContext;
}

namespace heddle::detail {

/// The part of entry or offset number `place` in the hash of a pattern: splitmix64 of both numbers.
/// The hash is the sum, so its terms can be added in any order.
constexpr std::uint64_t hash_term(std::uint64_t place, std::uint64_t value) noexcept {
  std::uint64_t x = place * 0x9e3779b97f4a7c15u + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Sum of `hash_term` over row offsets i = 0 … rows (at place −1 − i) and over columns (at place
/// k).
inline std::uint64_t pattern_hash(Index rows, const std::int64_t* row_offsets,
                                  const std::int32_t* columns) noexcept {
  std::uint64_t sum = 0;
  for (Index i = 0; i <= rows; ++i) {
    sum += hash_term(~static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(row_offsets[i]));
  }
  for (Index k = 0; k < row_offsets[rows]; ++k) {
    sum += hash_term(static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(columns[k]));
  }
  return sum;
}

namespace cuda {

/// The same of a matrix in device memory. Waits for the device.
std::uint64_t pattern_hash(CudaContext& context, Index rows, Index nnz,
                           const std::int64_t* row_offsets, const std::int32_t* columns);

}  // namespace cuda
}  // namespace heddle::detail
