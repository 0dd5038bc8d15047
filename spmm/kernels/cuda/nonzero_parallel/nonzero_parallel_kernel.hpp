#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Balanced nonzeros with parallel reduction ("EB_PR"): a warp processes a fixed number of
/// nonzeros, 32 at a time, one per lane. Each lane loads up to four columns of its row of B at
/// once, and a segmented scan by shuffles adds the lanes of equal rows. A warp's partial sum of its
/// unfinished last row is added by a second pass, see `launch_add_carries`.
///
/// Good for one to four columns and rows of very different lengths. Reads A once per four columns.
/// Deterministic. Source: Huang et al., arXiv:2106.16064.
struct NonzeroParallelKernel {
  static constexpr KernelTraits kTraits = {
      .name = "nonzero_parallel",
      .description = "a nonzero per lane, the lanes of equal rows added by shuffles",
      .keeps = "16 bytes per 16 to 128 nonzeros, carries of N·sizeof(T) per 256 nonzeros",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
