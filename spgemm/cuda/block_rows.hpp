#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

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

/// offsets[i] ← the number of blocks in the rows before row i of M. Returns the number of all.
template <Scalar T>
Index count_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M, std::int64_t* offsets);

/// The blocks of M, whose offsets are those of `count_blocks`.
template <Scalar T>
void fill_blocks(CudaContext& context, const CsrView<T, DeviceSpace>& M,
                 const std::int64_t* offsets, std::int32_t* keys, unsigned* masks);

}  // namespace heddle::detail
