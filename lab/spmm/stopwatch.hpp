#pragma once

#include <functional>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <memory>

namespace heddle::lab {

/// Times work on a context's stream by events. Each call waits for the device.
class Stopwatch {
 public:
  explicit Stopwatch(CudaContext& context);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// Milliseconds of the work that `work` queues: the median of batches queued without a gap, which
  /// take about `budget_ms` together.
  double warm_ms(const std::function<void()>& work, double budget_ms = 25);

  /// The median of single runs. Before each run, memory larger than the caches is overwritten.
  double cold_ms(const std::function<void()>& work);

  /// Queues filling device memory with bits that are NaN in every precision.
  void overwrite(void* memory, std::size_t bytes);

  /// Queues a copy within device memory.
  void copy(void* target, const void* source, std::size_t bytes);

 private:
  double batch_ms(const std::function<void()>& work, int count);

  CudaContext& context_;
  Buffer<char, DeviceSpace> flush_;
  void* begin_ = nullptr;  ///< a cudaEvent_t, like `end_`
  void* end_ = nullptr;
};

}  // namespace heddle::lab
