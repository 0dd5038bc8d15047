#pragma once

#include <heddle/spmm/kernels/kernel_table.hpp>

namespace heddle::detail::cuda {

/// Double-precision tensor cores on panels of neighbouring nodes (see `NodePanels`).
struct NodePanelKernel {
  static constexpr KernelTraits kTraits = {
      .name = "node_panel",
      .description = "tensor cores in double on panels of nodes, whose blocks are stored whole",
      .keeps = "b·b·sizeof(T) + 2 to 6 per block of bxb",
      .limits = "fewer than 2^32 blocks in 24 neighbouring rows",
      .epilogue = true};
  static KernelMakers<DeviceSpace> makers();
};

}  // namespace heddle::detail::cuda
