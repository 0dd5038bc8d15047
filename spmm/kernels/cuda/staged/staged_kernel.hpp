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
/// Two neighbouring rows of a block are multiplied together, where one lacks a column with a zero.
/// A row of C is therefore NaN if an entry of the other meets an Inf or NaN of B.
struct StagedKernel {
  static constexpr KernelTraits kTraits = {
      .name = "staged",
      .description = "rows of B copied to shared memory for blocks of rows that share them",
      .keeps =
          "2·sizeof(T) + 2 per distinct column of two rows, 4 per distinct column of a row block; "
          "another such format where narrow and wide blocks are multiplied in single precision",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

/// `staged` on segments of rows (see `RowSegments`): long rows are cut into segments of about the
/// mean row length, so that the threads of a block have even work and a few long rows occupy the
/// device. The sums of segments are stored apart and added by a second pass, in a fixed order.
///
/// Suited to rows of very different lengths and to few long rows. Deterministic.
struct StagedSegmentsKernel {
  static constexpr KernelTraits kTraits = {
      .name = "staged_segments",
      .description = "as staged, long rows cut into segments of even length",
      .keeps =
          "as staged, 12 per segment of a row, N·sizeof(T) per segment of a row of more than the "
          "mean length, at least 64 entries",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
