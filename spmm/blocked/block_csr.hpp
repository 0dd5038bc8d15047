#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>

/// A sparse matrix in dense blocks, as tensor cores multiply them.
namespace heddle {

/// A in dense blocks, compressed by block rows. Block row p has the blocks row_offsets[p] …
/// row_offsets[p+1] − 1. Entry (i, j) of block e is `values[(e·height + i)·width + j]`. It is the
/// entry of A in row `row(p·height + i)` and column `column(columns[e]·width + j)`, or 0 where A
/// stores none or ends before. `row` and `column` are the order. Block columns ascend in a block
/// row. Source: Okanovic et al., High performance unstructured SpMM computation using tensor cores,
/// SC 2024, section IV-B.
template <class V, class Space>
struct BlockCsr {
  Index rows = 0;
  Index cols = 0;
  BlockShape shape;
  Buffer<std::int64_t, Space> row_offsets;   ///< one per block row, and one
  Buffer<std::int32_t, Space> columns;       ///< block columns, one per block
  Buffer<V, Space> values;                   ///< area per block
  Buffer<std::int32_t, Space> row_order;     ///< rows entries, or none: the natural order
  Buffer<std::int32_t, Space> column_order;  ///< cols entries, or none

  /// The number of rows of blocks.
  Index block_rows() const noexcept { return (rows + shape.height - 1) / shape.height; }
  /// The number of stored blocks.
  Index blocks() const noexcept { return static_cast<Index>(columns.size()); }
};

/// A in block CSR, its values rounded to V. V is `Half`, `Bfloat16` or `Tf32`. Runs in parallel
/// with the same result for every number of threads. Throws `InvalidArgument` as `count_blocks`,
/// `OutOfMemory`.
template <class V, Scalar T>
BlockCsr<V, HostSpace> make_block_csr(HostContext& context, CsrView<T, HostSpace> A,
                                      BlockShape shape, const BlockOrder& order = {});

}  // namespace heddle
