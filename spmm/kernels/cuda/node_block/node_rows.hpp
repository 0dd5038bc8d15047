#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/node_size.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::detail::cuda {

/// The number of neighbouring blocks of a node row in a chunk: as many as 16 bytes hold scalars of
/// the product.
template <class T>
inline constexpr Index kChunkBlocks = kVectorWidth<T>;

/// The number of values in a chunk of b×b blocks, and the place among them of entry (row, column)
/// of the chunk's block `block`. Neighbouring values belong to different blocks, so that one load
/// reads the same entry of all blocks.
template <class T>
constexpr Index chunk_values(Index b) noexcept {
  return kChunkBlocks<T> * b * b;
}
template <class T>
constexpr Index chunk_position(Index b, Index row, Index column, Index block) noexcept {
  return (column * b + row) * kChunkBlocks<T> + block;
}

/// The arguments of `node_block` for products in T that represent A, whose values are stored as V.
template <class T, class V>
struct NodeRowsView {
  Index count = 0;                     ///< node rows
  const Index* chunk_begin = nullptr;  ///< node row i has chunks chunk_begin[i] … [i + 1] − 1
  const std::int32_t* columns = nullptr;  ///< node columns, kChunkBlocks<T> per chunk
  const V* values = nullptr;              ///< chunk_values<T>(b) per chunk
};

/// A in rows of b×b blocks, ascending. Blocks are stored whole: entries that A does not store are
/// zeros. The last chunk of a node row is filled up with blocks of zeros, which repeat its last
/// node column. The last node may lie partly outside of A.
template <class T, class V>
class NodeRows {
 public:
  /// Builds the rows on the device and waits for the number of chunks. Throws `OutOfMemory`.
  NodeRows(CudaContext& context, const CsrView<T, DeviceSpace>& A, int b);

  const NodeRowsView<T, V>& view() const noexcept { return view_; }
  int node_size() const noexcept { return b_; }

 private:
  template <int b>
  void build(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  int b_;
  Buffer<Index, DeviceSpace> chunk_begin_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<V, DeviceSpace> values_;
  NodeRowsView<T, V> view_;
};

}  // namespace heddle::detail::cuda
