#pragma once

#include <array>
#include <heddle/spmm/features/features.hpp>

namespace heddle::detail {

/// The sizes of node blocks that are looked for.
inline constexpr int kSmallestNode = 2;
inline constexpr int kLargestNode = 8;

/// Fill by size: fills[b − kSmallestNode] = nnz/(b²·number of aligned b×b blocks touched).
using NodeFills = std::array<double, kLargestNode - kSmallestNode + 1>;

/// Bytes per entry of A where b×b blocks of the given fill are stored whole, with a column index
/// each. CSR takes scalar_bytes + 4.
constexpr double node_bytes_per_entry(int b, double fill, std::size_t scalar_bytes) noexcept {
  return (static_cast<double>(scalar_bytes) + 4.0 / (b * b)) / fill;
}

/// Sets `node_size` and `node_fill` to the size that takes the fewest bytes in double. Fills of 0
/// are of a matrix without entries.
inline void set_node_size(const NodeFills& fills, MatrixFeatures& features) noexcept {
  for (int b = kSmallestNode; b <= kLargestNode; ++b) {
    const double fill = fills[static_cast<std::size_t>(b - kSmallestNode)];
    if (fill <= 0) continue;
    if (features.node_size == 0 ||
        node_bytes_per_entry(b, fill, sizeof(double)) <
            node_bytes_per_entry(features.node_size, features.node_fill, sizeof(double))) {
      features.node_size = b;
      features.node_fill = fill;
    }
  }
}

}  // namespace heddle::detail
