#include "spmm/stopwatch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <heddle/linalg/base/median.hpp>
#include <vector>

#include "cuda_check.hpp"

namespace heddle::lab {
namespace {

/// The number of batches of one measurement, and of products in a batch.
constexpr int kBatches = 5;
constexpr int kMostInBatch = 20;
/// Cold runs, fewer once one takes this long.
constexpr int kColdRuns = 5;
constexpr double kLongMs = 25;

/// Several times the second-level cache of any GPU so far.
constexpr std::size_t kFlushBytes = std::size_t{512} << 20;

}  // namespace

Stopwatch::Stopwatch(CudaContext& context) : context_(context), flush_(context, kFlushBytes) {
  for (void** event : {&begin_, &end_}) {
    cudaEvent_t created = nullptr;
    check(cudaEventCreate(&created));
    *event = created;
  }
}

Stopwatch::~Stopwatch() {
  for (void* event : {begin_, end_}) cudaEventDestroy(static_cast<cudaEvent_t>(event));
}

double Stopwatch::batch_ms(const std::function<void()>& work, int count) {
  check(cudaEventRecord(static_cast<cudaEvent_t>(begin_), context_.stream()));
  for (int i = 0; i < count; ++i) work();
  check(cudaEventRecord(static_cast<cudaEvent_t>(end_), context_.stream()));
  check(cudaEventSynchronize(static_cast<cudaEvent_t>(end_)));
  float ms = 0;
  check(
      cudaEventElapsedTime(&ms, static_cast<cudaEvent_t>(begin_), static_cast<cudaEvent_t>(end_)));
  return static_cast<double>(ms) / count;
}

double Stopwatch::warm_ms(const std::function<void()>& work, double budget_ms) {
  batch_ms(work, 1);
  const double once = std::max(batch_ms(work, 1), 1e-4);
  if (once > budget_ms) return once;
  const int count = std::clamp(static_cast<int>(budget_ms / kBatches / once), 1, kMostInBatch);
  const int batches = std::clamp(static_cast<int>(budget_ms / once), 1, kBatches);
  std::vector<double> times;
  for (int i = 0; i < batches; ++i) times.push_back(batch_ms(work, count));
  return median(times);
}

double Stopwatch::cold_ms(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < kColdRuns; ++i) {
    overwrite(flush_.data(), kFlushBytes);
    times.push_back(batch_ms(work, 1));
    if (times.back() > kLongMs) break;
  }
  return median(times);
}

void Stopwatch::overwrite(void* memory, std::size_t bytes) {
  constexpr int kAllOnes = 0xff;
  check(cudaMemsetAsync(memory, kAllOnes, bytes, context_.stream()));
}

void Stopwatch::copy(void* target, const void* source, std::size_t bytes) {
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, context_.stream()));
}

}  // namespace heddle::lab
