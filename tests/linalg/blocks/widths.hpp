#pragma once

#include <heddle/linalg/data/views.hpp>
#include <utility>
#include <vector>

#include "support/sanitized.hpp"

/// Shapes with which the operations on blocks are tested.
namespace heddle::test {

inline const std::vector<Index> kRows = {
    0, 1, 2, 7, kSanitized ? 40 : 1000, kSanitized ? 1100 : 4099};
inline const std::vector<Index> kCols = {1, 3, 4, 8, 16, 17, 31, 33, 64, 100};

/// Pairs of widths: each with itself and with one narrower or wider.
inline std::vector<std::pair<Index, Index>> width_pairs() {
  std::vector<std::pair<Index, Index>> pairs;
  for (std::size_t k = 0; k < kCols.size(); ++k) {
    pairs.emplace_back(kCols[k], kCols[k]);
    pairs.emplace_back(kCols[k], kCols[(3 * k + 2) % kCols.size()]);
  }
  return pairs;
}

}  // namespace heddle::test
