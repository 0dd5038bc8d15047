#pragma once

#include <heddle/spmm/model/work.hpp>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// The work of a kernel in seconds at the device's nominal speed.
struct NominalTimes {
  double memory = 0;
  double l2 = 0;
  double l1 = 0;
  double issue = 0;
  double tensor = 0;
  double loads = 0;         ///< the chain of loads of a warp
  double instructions = 0;  ///< the instructions of a warp, one after the other
  double waves = 1;         ///< of warps
  double tail = 0;          ///< the longest chain of loads
  double launch = 0;
};

NominalTimes nominal_times(const KernelWork& work, const DeviceSpeed& device) noexcept;

/// How much longer than at the device's nominal speed a kernel's parts take, as fitted.
struct KernelConstants {
  double memory = 1;
  double l2 = 1;
  double l1 = 1;
  double issue = 1;
  double latency = 1;
  double tail = 1;
  double launch = 1;
};

/// A kernel that the model knows.
struct KernelModel {
  std::string_view kernel;
  CountWork count;
  KernelConstants constants;
};

const std::vector<KernelModel>& kernel_models();

}  // namespace heddle::detail
