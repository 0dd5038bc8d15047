#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Double-precision tensor cores on compacted panels of 8 rows (see `Panels`). The 8×4 values of a
/// tile are multiplied by the 4 rows of B that belong to its columns, so a row of B is loaded once
/// for all rows of the panel that need it. One to eight warps share a panel (more if there are few
/// panels) and add their sums in shared memory. The parts of long panels are added by a second
/// pass. Floats are multiplied and summed in double.
///
/// Good where neighbouring rows share columns (R(8) ≥ 2: meshes with several unknowns per node,
/// bands), from N = 16 on. Reads the panels once per stripe of 64 columns (128 for float), B rows
/// 8/R(8) times as often as C rows are written, less what L1 keeps. Deterministic.
///
/// Entries of a tile that A does not store are multiplied as zeros. A row of C is therefore NaN if
/// an entry of a neighbouring row meets an Inf or NaN of B.
struct PanelMmaKernel {
  static constexpr KernelTraits kTraits = {
      .name = "panel_mma",
      .description = "tensor cores in double on panels of 8 rows that share columns",
      .keeps = "nnz·sizeof(T) + 24 per tile of 8x4, 64·N per part of a long panel",
      .limits = "fewer than 2^32 entries in eight neighbouring rows",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
