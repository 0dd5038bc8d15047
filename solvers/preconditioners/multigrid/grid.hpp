#pragma once

#include <algorithm>
#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <vector>

namespace heddle::detail {

/// A matrix of one level while the next coarser level is made from it.
struct Grid {
  HostCsrMatrix<double> A;  ///< n×n, symmetric, every diagonal entry stored
  /// The first row of each node, and n at the end. The unknowns of a node are aggregated together.
  std::vector<std::int64_t> nodes;
  /// n×m, m ≥ 1: vectors X with A X ≈ 0 away from the boundary. Coarser levels represent them
  /// exactly.
  MultiVector<double, HostSpace> near_null;

  Index node_count() const noexcept { return static_cast<Index>(nodes.size()) - 1; }
};

/// The node of each row.
inline std::vector<std::int32_t> node_of_rows(const Grid& grid) {
  std::vector<std::int32_t> of_row(static_cast<std::size_t>(grid.A.rows()));
  for (Index node = 0; node < grid.node_count(); ++node) {
    const auto k = static_cast<std::size_t>(node);
    std::fill(of_row.begin() + grid.nodes[k], of_row.begin() + grid.nodes[k + 1],
              static_cast<std::int32_t>(node));
  }
  return of_row;
}

}  // namespace heddle::detail
