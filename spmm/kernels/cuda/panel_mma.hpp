#pragma once

#include <heddle/spmm/kernels/cuda/panels.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::cuda {

/// Double-precision tensor cores on compacted panels of 8 rows: a tile's 8×4 values times the 4
/// rows of B that its columns name, so that a row of B is loaded once for all rows of the panel
/// that need it. One to eight warps share a panel, more of them where panels are few, and add up
/// in shared memory; the parts of long panels are added by a second pass. Floats are multiplied and
/// summed in double.
///
/// Good where neighbouring rows share columns (R(8) ≥ 2: meshes with several unknowns a node,
/// bands), from N = 16 on. Reads the panels once a slab of 64 columns (128 for float), B rows
/// 8/R(8) times as often as C rows are written, less what L1 keeps. Deterministic.
///
/// Entries that A does not have take part as zeros: a row of C is NaN where a neighbouring row's
/// entry meets an Inf or NaN of B.
/// `parts` holds panel_mma_parts(panels, N) values, uninitialised.
template <class T>
void launch_panel_mma(const SpmmProduct<T>& product, const Panels<T>& panels, double* parts,
                      cudaStream_t stream);

/// Values that `launch_panel_mma` needs for the parts of long panels.
template <class T>
Index panel_mma_parts(const Panels<T>& panels, Index N) {
  return panels.parts() * kPanelRows * N;
}

}  // namespace heddle::cuda
