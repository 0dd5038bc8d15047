#pragma once

#include <heddle/spmm/model/model.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// The facts about the solving device that a plan depends on.
struct Machine {
  bool on_gpu = false;
  std::string name{};                ///< of the GPU
  double memory_bytes = 0;           ///< free on the GPU. 0 on the host, see `require_host_memory`
  int processes = 1;                 ///< that solve together
  std::optional<DeviceSpeed> gpu{};  ///< its speed. None: the host
  std::vector<std::string_view> kernels{};  ///< of products with A, by name
};

}  // namespace heddle::detail
