#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>

/// The pattern of a matrix by blocks of 32 columns: a key, the number of the block, and a mask of
/// the columns in it. Where columns are neighbours, a pattern is found faster from these than from
/// the columns (the compression of Deveci, Trott, Rajamanickam, Parallel Comput. 78, 2018,
/// section 3.2).
namespace heddle::detail {

/// A block of columns: its number, and a bit per column that is stored.
struct alignas(8) ColumnBlock {
  std::int32_t key;
  unsigned mask;
};

/// The pattern of a matrix, by columns or by blocks. Row i has the columns offsets[i] …
/// offsets[i + 1] − 1, or counts[i] blocks from offsets[i] − offsets[0] on.
struct BlockRowsView {
  const std::int64_t* offsets = nullptr;
  const std::int32_t* columns = nullptr;
  const std::int32_t* counts = nullptr;
  const ColumnBlock* blocks = nullptr;  ///< null: by columns
};

/// The number of blocks of each row of M.
template <Scalar T>
DeviceIntegers count_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M);

/// Writes the blocks of M and their counts to the places that `BlockRowsView` describes: M.nnz
/// blocks and M.rows counts in device memory.
template <Scalar T>
void write_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M, ColumnBlock* blocks,
                  std::int32_t* counts);

}  // namespace heddle::detail
