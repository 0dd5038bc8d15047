#pragma once

#include <heddle/linalg/context/context.hpp>

namespace heddle {

/// How many threads a GPU can run at once. The rules that distribute work over threads depend on
/// it. The defaults are those of an NVIDIA H100 or H200, so that these rules can be evaluated
/// without a GPU.
struct DeviceSizes {
  int multiprocessors = 132;
  int threads_per_multiprocessor = 2048;  ///< resident at once on one multiprocessor

  /// Threads resident at once on the whole device.
  constexpr Index resident_threads() const noexcept {
    return Index{multiprocessors} * threads_per_multiprocessor;
  }
};

}  // namespace heddle
