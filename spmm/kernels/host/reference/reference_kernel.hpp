#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail {

/// `reference_spmm` as a kernel that can be chosen by name.
struct ReferenceKernel {
  static constexpr KernelTraits kTraits = {
      .name = "reference",
      .description = "three loops on one thread, summed in double: for tests",
      .epilogue = true,
      .takes_complex = true};
  static KernelMakers<HostSpace> makers();
};

}  // namespace heddle::detail
