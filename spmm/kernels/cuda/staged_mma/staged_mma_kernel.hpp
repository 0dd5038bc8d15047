#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Double-precision tensor cores on rows of B in shared memory. A thread block copies the distinct
/// rows of B that a block of 64 rows of A needs into shared memory, up to 256 of them at a time,
/// and multiplies the panels of 8 rows from there, a warp per panel, as `panel_mma` does from the
/// caches. Three or four thread blocks on a multiprocessor overlap each other's copies. Floats are
/// multiplied and summed in double.
///
/// Good where both 8 and 64 neighbouring rows share columns: bands, meshes with several unknowns
/// per node. Reads a row of B from the caches once per row block, A once per stripe of 256 bytes of
/// C's rows. Deterministic.
///
/// Entries of a tile that A does not store are multiplied as zeros. A row of C is therefore NaN if
/// an entry of another row of its panel meets an Inf or NaN of B.
struct StagedMmaKernel {
  static constexpr KernelTraits kTraits = {
      .name = "staged_mma",
      .description = "tensor cores in double on rows of B in shared memory",
      .keeps = "nnz·sizeof(T) + 16 per tile of 8x4, 4 per distinct column of 64 rows",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
