#pragma once

#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {

/// A kernel of a `LaunchGroup` has one of these from its first line on. It lets the next kernel
/// begin as soon as all thread blocks have begun. The last thread block waits for the kernel before
/// at its end, so that a kernel ends after those before it.
class BesideOthers {
 public:
  __device__ BesideOthers() { cuda::allow_next_kernel(); }
  __device__ ~BesideOthers() {
    if (blockIdx.x == gridDim.x - 1) cuda::wait_for_previous_kernel();
  }
  BesideOthers(const BesideOthers&) = delete;
  BesideOthers& operator=(const BesideOthers&) = delete;
};

/// Kernels that do not depend on each other, launched one after the other: while the last thread
/// blocks of one run, those of the next one fill the device. The first one begins when all work
/// queued before has ended, and all have ended when work queued afterwards begins.
class LaunchGroup {
 public:
  explicit LaunchGroup(CUstream_st* stream) : stream_(stream) {}

  /// Launches `kernel` with `count` teams of W threads in blocks of `threads`, each team with
  /// `bytes` of shared memory.
  template <int W, class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), Index count, int threads, std::size_t bytes,
              const Arguments&... arguments) {
    const Index teams = threads / W;
    launch_blocks(kernel, ceil_div(count, teams), threads, bytes * static_cast<std::size_t>(teams),
                  arguments...);
  }

  /// The same with thread blocks instead of teams.
  template <class... Parameters, class... Arguments>
  void launch_blocks(void (*kernel)(Parameters...), Index blocks, int threads, std::size_t bytes,
                     const Arguments&... arguments) {
    if (blocks == 0) return;
    allow_shared_memory(kernel, bytes);
    const dim3 grid(static_cast<unsigned>(blocks));
    const dim3 block(static_cast<unsigned>(threads));
    if (is_first_) {
      kernel<<<grid, block, bytes, stream_>>>(arguments...);
      check_launch();
    } else {
      cuda::launch_dependent(kernel, {grid, block, bytes}, stream_, arguments...);
    }
    is_first_ = false;
  }

 private:
  CUstream_st* stream_;
  bool is_first_ = true;
};

}  // namespace heddle::detail
