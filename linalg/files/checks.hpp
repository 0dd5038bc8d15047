#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/context.hpp>
#include <limits>
#include <string>
#include <string_view>

/// Checks of what a file claims, which every reader makes.
namespace heddle::detail {

/// The largest number of rows or columns: indices have 32 bits.
inline constexpr Index kMostIndices = std::numeric_limits<std::int32_t>::max();

inline bool is_tar(std::string_view bytes) noexcept {
  constexpr std::size_t kMagicAt = 257;
  return bytes.size() > kMagicAt && bytes.substr(kMagicAt, 5) == "ustar";
}

/// Whether memory for `cells` rows or values is in proportion to the number of entries in a file,
/// so that a damaged size does not exhaust the memory.
constexpr bool is_plausible(Index cells, Index entries) noexcept {
  constexpr Index kAlways = Index{1} << 27;
  constexpr Index kPerEntry = 1024;
  return cells <= kAlways || cells / kPerEntry <= entries;
}

/// Checks the sums of duplicate entries, which may overflow although all entries are finite. Throws
/// `InputError`.
template <Scalar T>
void require_finite_sums(const T* values, Index size, std::string_view name) {
  if (!std::all_of(values, values + size, [](T value) { return is_finite(value); })) {
    throw InputError(std::string(name), 0, "entries given twice have a sum that is not finite");
  }
}

}  // namespace heddle::detail
