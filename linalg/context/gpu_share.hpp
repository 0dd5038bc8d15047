#pragma once

#include <heddle/linalg/context/processes.hpp>
#include <string>

namespace heddle::detail {

/// The GPU of one of several processes.
struct GpuShare {
  int device = 0;
  std::string refusal{};  ///< why the processes cannot use GPUs. The same on all of them
};

/// The number of GPUs that this process may use.
int gpu_count() noexcept;

/// Gives each process the GPU of its machine that has the process's number among those on the same
/// machine, counted around. Refused unless every process gets a GPU of its own and all GPUs are of
/// one kind, so that the same operation gives the same bits on all. All processes call it together.
GpuShare share_gpus(Processes& processes);

}  // namespace heddle::detail
