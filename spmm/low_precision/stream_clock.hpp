#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>

namespace heddle::detail {

/// Seconds of `work`, queued on the context's stream: the least of several measurements.
template <class Work>
double seconds_of(CudaContext& context, const Work& work) {
  constexpr int kRuns = 10;  // in a measurement
  constexpr int kMeasurements = 5;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  float least = 0;
  work();
  for (int k = 0; k < kMeasurements; ++k) {
    check(cudaEventRecord(begin, context.stream()));
    for (int run = 0; run < kRuns; ++run) work();
    check(cudaEventRecord(end, context.stream()));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    least = k == 0 ? ms : std::min(least, ms);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  return 1e-3 * static_cast<double>(least) / kRuns;
}

}  // namespace heddle::detail
