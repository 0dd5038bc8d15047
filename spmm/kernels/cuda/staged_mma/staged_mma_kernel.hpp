#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Double-precision tensor cores on rows of B in shared memory. Some warps of a thread block copy
/// the distinct rows of B that a block of 128 rows of A needs into shared memory, up to 128 of them
/// at a time, while the others multiply panels of 16 rows by those copied before. Floats are
/// multiplied and summed in double.
///
/// Good where both 16 and 128 rows share columns: bands, finite elements, grids whose rows share
/// columns with many others. Reads a row of B from the caches once per row block, A once per stripe
/// of C's columns. Deterministic.
///
/// Entries of a tile that A does not store are multiplied as zeros. A row of C is therefore NaN if
/// an entry of another row of its panel meets an Inf or NaN of B.
struct StagedMmaKernel {
  static constexpr KernelTraits kTraits = {
      .name = "staged_mma",
      .description = "tensor cores in double on rows of B in shared memory",
      .keeps = "nnz·sizeof(T) + 16 per tile of 16x4, 4 per distinct column and 512 per 128 rows",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
