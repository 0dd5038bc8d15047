#pragma once

#include <cstdint>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>

namespace heddle::detail {

/// A matrix of one level while the next coarser level is made from it.
template <class Space>
struct Grid {
  CsrMatrix<double, Space> A;  ///< n×n, symmetric, every diagonal entry stored
  /// The first row of each node, and n at the end. The unknowns of a node are aggregated together.
  Buffer<std::int64_t, Space> nodes;
  /// n×m, m ≥ 1: vectors X with A X ≈ 0 away from the boundary. Coarser levels represent them
  /// exactly.
  MultiVector<double, Space> near_null;

  Index node_count() const noexcept { return static_cast<Index>(nodes.size()) - 1; }

  /// Whether every node is a single row.
  bool nodes_are_rows() const noexcept { return near_null.cols() == 1 && node_count() == A.rows(); }
};

/// The node of each row.
Buffer<std::int32_t, HostSpace> node_of_rows(HostContext& context, const Grid<HostSpace>& grid);
Buffer<std::int32_t, DeviceSpace> node_of_rows(CudaContext& context, const Grid<DeviceSpace>& grid);

}  // namespace heddle::detail
