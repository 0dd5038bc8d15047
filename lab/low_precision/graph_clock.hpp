#pragma once

#include <functional>
#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::lab {

/// How long queued work takes.
struct WorkTime {
  double microseconds = 0;
  bool graph = true;  ///< false: the work cannot be captured, and was launched call by call
};

/// The time of the work that `work` queues on the context's stream, one after the other without
/// gaps: the median over launches of a CUDA graph of several runs. Runs it once before. Throws
/// `DeviceError`.
WorkTime time_work(CudaContext& context, const std::function<void()>& work);

}  // namespace heddle::lab
