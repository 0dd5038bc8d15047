#pragma once

#include <heddle/linalg/context/context.hpp>

namespace heddle {

/// The rows of a distributed vector that this process holds: rows first … first + local − 1 of a
/// vector of `global` rows. With one process it is {0, n, n}.
struct RowRange {
  Index first = 0;   ///< the first row of this process
  Index local = 0;   ///< the number of rows of this process
  Index global = 0;  ///< the number of rows of all processes

  /// All rows of a vector of n rows.
  static constexpr RowRange all(Index n) noexcept { return {0, n, n}; }

  constexpr bool operator==(const RowRange&) const noexcept = default;
};

}  // namespace heddle
