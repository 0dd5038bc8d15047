#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/node_size.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <numeric>

namespace heddle::detail::cuda {

/// How node rows of b×b blocks are stored. Neighbouring blocks of a node row form chunks, the
/// smallest b×kInner matrices whose width is a multiple of the values in 16 bytes. Entry (i, k) of
/// a chunk is value (k/kVector·b + i)·kVector + k%kVector of it, so that one load reads kVector
/// neighbouring entries of a row.
template <class T, int b>
struct NodeChunk {
  static_assert(b >= kSmallestNode && b <= kLargestNode);
  static constexpr int kVector = kVectorWidth<T>;
  static constexpr int kBlocks = kVector / std::gcd(kVector, b);
  static constexpr int kInner = kBlocks * b;
  static constexpr int kVectors = kInner / kVector;
  static constexpr int kValues = kInner * b;
  static constexpr int kPieces = kValues / kVector;  // of 16 bytes

  static constexpr int position(int row, int inner) {
    return (inner / kVector * b + row) * kVector + inner % kVector;
  }
};

/// The arguments of `node_block` that represent A.
template <class T>
struct NodeRowsView {
  Index count = 0;                        ///< node rows
  const std::int32_t* order = nullptr;    ///< node rows in the order of storage; null: ascending
  const Index* chunk_begin = nullptr;     ///< the i-th node row has chunks chunk_begin[i] …
  const std::int32_t* columns = nullptr;  ///< node columns, kBlocks per chunk
  const T* values = nullptr;              ///< kValues per chunk
};

/// A in rows of b×b blocks. Blocks are stored whole: entries that A does not store are zeros. The
/// last chunk of a node row is filled up with blocks of zeros. The last node may lie partly outside
/// of A.
template <class T>
class NodeRows {
 public:
  /// Builds the rows on the device and waits for the number of chunks. Throws `OutOfMemory`.
  NodeRows(CudaContext& context, const CsrView<T, DeviceSpace>& A, int b);

  const NodeRowsView<T>& view() const noexcept { return view_; }
  int node_size() const noexcept { return b_; }

 private:
  template <int b>
  void build(CudaContext& context, const CsrView<T, DeviceSpace>& A);

  int b_;
  Buffer<std::int32_t, DeviceSpace> order_;
  Buffer<Index, DeviceSpace> chunk_begin_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<T, DeviceSpace> values_;
  NodeRowsView<T> view_;
};

}  // namespace heddle::detail::cuda
