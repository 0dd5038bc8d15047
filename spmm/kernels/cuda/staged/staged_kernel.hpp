#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Rows of B in shared memory. The rows of A are divided into blocks that share columns (see
/// `RowBlocks`). A thread block copies the distinct rows of B that a row block needs, and its part
/// of A, into shared memory, and multiplies from there. The copies for the next row block are in
/// flight meanwhile. Source: Hidayetoglu, Tiled SpMM and its performance model (staged footprints,
/// local indices of 16 bits); here for row-major blocks, in a ring of stages.
///
/// Suited to rows that share columns with many others: meshes, lattices, bands. Reads B from memory
/// as often as row blocks share its rows, A once per stripe of columns. Deterministic.
///
/// A row of C is NaN if one of its entries meets an Inf of B, because short rows are filled up by
/// zeros in the column of their last entry.
struct StagedKernel {
  static constexpr KernelTraits kTraits = {
      .name = "staged",
      .description = "rows of B copied to shared memory for blocks of rows that share them",
      .keeps =
          "(sizeof(T) + 2)·(nnz + at most 3 per row and piece) + 4 per distinct column of a "
          "row block; another such format where both narrow and wide blocks are multiplied in "
          "single "
          "precision",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
