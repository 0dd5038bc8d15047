#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// The merge path for blocks of a few columns. A thread block takes equally many rows and nonzeros
/// together. Its threads load neighbouring nonzeros at the same time, all of them before the first
/// row of B, and store the products in shared memory. Then each thread adds a few neighbouring
/// products, a segmented scan over the threads adds the parts of a row, and the rows are stored
/// together. The sum of a row that another block ends is added by a second pass, see
/// `launch_add_carries`.
///
/// Suited to one to four columns, whatever the lengths of rows; wider blocks are multiplied in
/// stripes of four columns, each of which reads A. Deterministic. Sources: Merrill, Garland,
/// Merge-Based Parallel Sparse Matrix-Vector Multiplication, SC'16 (the path); Blelloch, Heroux,
/// Zagha, Segmented Operations for Sparse Matrix Computation on Vector Multiprocessors, 1993.
struct NarrowMergeKernel {
  static constexpr KernelTraits kTraits = {
      .name = "narrow_merge",
      .description = "equally many rows and nonzeros per thread block, some nonzeros per thread",
      .keeps =
          "16 bytes per 16 to 128 rows and nonzeros, carries of N·sizeof(T) per 512 of those, "
          "4 per nonzero where values are exact in single precision",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
