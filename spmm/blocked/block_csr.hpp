#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>

/// Sparse matrices in the formats that tensor cores multiply. Both cut A into panels of
/// neighbouring rows of an order.
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

/// A by panels of `height` rows. Of a panel, only the columns with entries are kept, ascending and
/// in groups of `width`. Panel p has the groups group_offsets[p] … group_offsets[p+1] − 1. Column c
/// of group g is column columns[g·width + c] of A. Its entry in row i of the panel is
/// `values[(g·height + i)·width + c]`, 0 where A stores none. A panel's last group is filled up
/// with columns of zeros that repeat the last one. Source: column compaction as in Wang et al.,
/// TC-GNN, USENIX ATC 2023.
template <class V, class Space>
struct ColumnPanels {
  Index rows = 0;
  Index cols = 0;
  BlockShape shape;
  Buffer<std::int64_t, Space> group_offsets;  ///< one per panel, and one
  Buffer<std::int32_t, Space> columns;        ///< width per group
  Buffer<V, Space> values;                    ///< area per group
  Buffer<std::int32_t, Space> row_order;      ///< rows entries, or none: the natural order

  /// The number of panels.
  Index panels() const noexcept { return (rows + shape.height - 1) / shape.height; }
  /// The number of groups of all panels.
  Index groups() const noexcept { return static_cast<Index>(columns.size()) / shape.width; }
};

/// A in block CSR, its values rounded to V. V is `Half`, `Bfloat16` or `Tf32`. Runs in parallel
/// with the same result for every number of threads. Throws `InvalidArgument` as `count_blocks`,
/// `OutOfMemory`.
template <class V, Scalar T>
BlockCsr<V, HostSpace> make_block_csr(HostContext& context, CsrView<T, HostSpace> A,
                                      BlockShape shape, const BlockOrder& order = {});

/// A in column-compacted panels. Otherwise as `make_block_csr`. The order of columns must be empty:
/// the format keeps each panel's columns by themselves.
template <class V, Scalar T>
ColumnPanels<V, HostSpace> make_column_panels(HostContext& context, CsrView<T, HostSpace> A,
                                              BlockShape shape, const BlockOrder& order = {});

/// C = A B by loops that can be read at a glance, for tests. B cols×N of numbers that V holds, C
/// rows×N. Products are exact in single precision unless they pass its range. They are added in
/// single precision, in the order of storage.
template <class V>
void reference_product(const BlockCsr<V, HostSpace>& A, ConstBlockView<float, HostSpace> B,
                       BlockView<float, HostSpace> C);

/// The same for column-compacted panels.
template <class V>
void reference_product(const ColumnPanels<V, HostSpace>& A, ConstBlockView<float, HostSpace> B,
                       BlockView<float, HostSpace> C);

}  // namespace heddle
