#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

/// Panels of 16 rows in device memory, of which only the columns with entries are kept. Source:
/// column compaction as in Wang et al., TC-GNN, USENIX ATC 2023.
namespace heddle::detail {

/// A in such panels. A panel's columns ascend, in groups of as many as take 32 bytes. The last
/// group is filled up with columns of zeros that repeat the last one.
template <class V>
struct ColumnGroups {
  Index count = 0;
  Buffer<Index, DeviceSpace> offsets;  ///< of the panels' groups, and their number
  Buffer<std::int32_t, DeviceSpace> columns;
  Buffer<V, DeviceSpace> values;  ///< each group as a block in the order of fragments
};

/// Row p of the panels is row `row_order[p]` of A; null: row p. Throws `OutOfMemory`.
template <class V>
ColumnGroups<V> make_column_groups(CudaContext& context, const CsrView<V, DeviceSpace>& A,
                                   const std::int32_t* row_order);

/// Their number alone.
template <class V>
Index count_column_groups(CudaContext& context, const CsrView<V, DeviceSpace>& A,
                          const std::int32_t* row_order);

/// Lines of 128 bytes of B that 8 neighbouring rows meet with their entries k, summed over all k
/// and rows, for rows of B of 16 bytes.
template <class V>
Index gathered_lines(CudaContext& context, const CsrView<V, DeviceSpace>& A);

}  // namespace heddle::detail
