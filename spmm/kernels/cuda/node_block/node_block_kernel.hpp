#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Dense b×b node blocks, b = 2 … 8 (see `NodeRows`), as vector-valued discretisations have them. A
/// lane holds the sums of all b rows of a node in two to eight columns, so each row of B is loaded
/// once for b rows of C, and a block needs one index instead of b². A few lanes, as many as the
/// columns need, do a node row. They copy its values to shared memory asynchronously, one or two
/// chunks ahead.
///
/// Good where blocks are nearly full: A moves 8 + 4/b² bytes per entry instead of 12 in double, 4 +
/// 4/b² instead of 8 in single, both over the fill. B is read b times less often than by
/// `row_split`. Any matrix is multiplied; b is the size that takes the fewest bytes. Bound by the
/// registers' loads from L1 and shared memory. Deterministic.
///
/// Entries of a block that A does not store are multiplied as zeros. A row of C is therefore NaN if
/// an entry of another row of its node meets an Inf or NaN of B.
struct NodeBlockKernel {
  static constexpr KernelTraits kTraits = {
      .name = "node_block",
      .description = "dense blocks of 2x2 to 8x8, each row of B loaded once per block",
      .keeps = "(b·b·sizeof(T) + 4) per b x b block, 8·rows/b",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
