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

/// Row i has the blocks offsets[i] … offsets[i+1] − 1. Without masks, keys are columns.
struct BlockRowsView {
  const std::int64_t* offsets = nullptr;
  const std::int32_t* keys = nullptr;
  const unsigned* masks = nullptr;
};

/// The number of blocks of each row of M.
template <Scalar T>
DeviceIntegers count_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M);

/// offsets[i] ← blocks[0] + … + blocks[i − 1] for i = 0 … n, where n is the size of `blocks`.
/// Returns the last one, for which it waits.
Index block_offsets(CudaContext& context, const DeviceIntegers& blocks, std::int64_t* offsets);

/// The blocks of M, whose places are those of `block_offsets`.
template <Scalar T>
void fill_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M,
                 const std::int64_t* offsets, std::int32_t* keys, unsigned* masks);

}  // namespace heddle::detail
