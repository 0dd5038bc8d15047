#pragma once

#include <heddle/spmm/kernels/cuda/narrow_copy.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// csrmm of Matam, Indarapu, Kothapalli, Sparse Matrix-Matrix Multiplication on Modern
/// Architectures, HiPC 2012, section 5: half a warp computes a row of C. It copies entries of its
/// row of A, and the rows of B that these need, to shared memory and sums there. B is processed in
/// chunks of as many columns as half a warp loads at once.
///
/// For comparison: no row of B in shared memory serves two rows of A. Deterministic.
struct CsrmmKernel {
  static constexpr KernelTraits kTraits = {
      .name = "csrmm",
      .description = "half a warp per row, rows of A and B staged in shared memory",
      .keeps = kNarrowCopy,
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
