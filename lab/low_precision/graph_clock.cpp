#include "low_precision/graph_clock.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <heddle/linalg/base/median.hpp>
#include <vector>

#include "cuda_check.hpp"

namespace heddle::lab {
namespace {

constexpr int kRuns = 20;  // in a graph
constexpr int kLaunches = 7;
constexpr double kLongRun = 500;       // microseconds: fewer runs are enough
constexpr double kVeryLongRun = 4000;  // one is enough

/// A pair of events around work on a stream.
class Events {
 public:
  explicit Events(cudaStream_t stream) : stream_(stream) {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Events() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  double microseconds(const std::function<void()>& work) {
    check(cudaEventRecord(begin_, stream_));
    work();
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_));
    return 1e3 * static_cast<double>(ms);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// A graph of `runs` runs, null if the work cannot be captured.
cudaGraphExec_t captured(cudaStream_t stream, const std::function<void()>& work, int runs) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  bool failed = false;
  try {
    for (int run = 0; run < runs; ++run) work();
  } catch (const std::exception&) {
    failed = true;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || failed ||
      cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) {
    cudaGetLastError();
    executable = nullptr;
  }
  if (graph != nullptr) cudaGraphDestroy(graph);
  return executable;
}

}  // namespace

WorkTime time_work(CudaContext& context, const std::function<void()>& work) {
  cudaStream_t stream = context.stream();
  Events events(stream);
  work();
  const double first = events.microseconds(work);
  if (first > kVeryLongRun) return {first, false};
  const int runs = first > kLongRun ? 3 : kRuns;
  cudaGraphExec_t graph = captured(stream, work, runs);
  const auto launch = [&] {
    if (graph != nullptr) {
      check(cudaGraphLaunch(graph, stream));
    } else {
      for (int run = 0; run < runs; ++run) work();
    }
  };
  launch();
  std::vector<double> times;
  for (int k = 0; k < kLaunches; ++k) times.push_back(events.microseconds(launch) / runs);
  if (graph != nullptr) check(cudaGraphExecDestroy(graph));
  return {median(std::move(times)), graph != nullptr};
}

}  // namespace heddle::lab
