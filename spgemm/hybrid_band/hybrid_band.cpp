#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/median.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/cuda/stream/page_lock.hpp>
#include <heddle/spgemm/hybrid_band.hpp>
#include <utility>
#include <vector>

namespace heddle {
namespace {

/// An event whose time can be read.
class Event {
 public:
  Event() { check(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(CudaContext& context) { check(cudaEventRecord(event_, context.stream())); }
  double ms_since(const Event& before) const {
    float ms = 0;
    check(cudaEventElapsedTime(&ms, before.event_, event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

template <Scalar T>
struct HybridBand<T>::State {
  CudaContext& gpu;
  HostContext& host;
  const HostDiaMatrix<T>& A;
  const HostDiaMatrix<T>& B;
  DiaMatrix<T, DeviceSpace> A_on_gpu;
  DiaMatrix<T, DeviceSpace> B_on_gpu;
  BandPlan<T, HostContext> host_plan;
  BandPlan<T, CudaContext> gpu_plan;
  HostDiaMatrix<T> C;
  DiaMatrix<T, DeviceSpace> C_on_gpu;
  detail::PageLock lock;
  Event begin;
  Event end;

  State(CudaContext& gpu_context, HostContext& host_context, const HostDiaMatrix<T>& left,
        const HostDiaMatrix<T>& right)
      : gpu(gpu_context),
        host(host_context),
        A(left),
        B(right),
        A_on_gpu(place(gpu, A)),
        B_on_gpu(place(gpu, B)),
        host_plan(host, A.shape(), B.shape()),
        gpu_plan(gpu, A.shape(), B.shape()),
        C(host, host_plan.product()),
        C_on_gpu(gpu, host_plan.product()),
        lock(C.values(), C.size() * sizeof(T)) {}

  /// Queues the computation of the first `rows` rows and their copy to the host.
  void start_gpu(Index rows) {
    begin.record(gpu);
    gpu_plan.update(gpu, A_on_gpu, B_on_gpu, C_on_gpu, 0, rows);
    if (rows > 0 && C.size() > 0) {
      const std::size_t pitch = static_cast<std::size_t>(C.ld()) * sizeof(T);
      check(cudaMemcpy2DAsync(
          C.values(), pitch, C_on_gpu.values(), pitch, static_cast<std::size_t>(rows) * sizeof(T),
          static_cast<std::size_t>(C.shape().diagonals()), cudaMemcpyDeviceToHost, gpu.stream()));
    }
    end.record(gpu);
  }
};

template <Scalar T>
HybridBand<T>::HybridBand(CudaContext& gpu, HostContext& host, const HostDiaMatrix<T>& A,
                          const HostDiaMatrix<T>& B)
    : state_(new State(gpu, host, A, B)) {}

template <Scalar T>
HybridBand<T>::~HybridBand() = default;

template <Scalar T>
BandWork HybridBand<T>::work() const noexcept {
  const DiaShape& C = state_->C.shape();
  return {static_cast<double>(state_->host_plan.multiplications()),
          static_cast<double>(C.rows * C.diagonals())};
}

template <Scalar T>
const HostDiaMatrix<T>& HybridBand<T>::multiply(double host_share, HybridReport& report) {
  if (!(host_share >= 0 && host_share <= 1)) {
    throw InvalidArgument(fmt::format(
        "C = A B on host and GPU: the share of the host is {}, it must lie in 0 … 1", host_share));
  }
  constexpr double kRowsTogether = 32;  // the host's vectors then begin at the same rows as A's
  State& s = *state_;
  const auto rows = static_cast<double>(s.C.shape().rows);
  const double wanted = std::ceil((1 - host_share) * rows / kRowsTogether) * kRowsTogether;
  const auto middle = static_cast<Index>(std::min(wanted, rows));
  const Clock::time_point begin = Clock::now();
  if (middle > 0) s.start_gpu(middle);
  s.host_plan.update(s.host, s.A, s.B, s.C, middle, s.C.shape().rows);
  report = {};
  report.cpu_ms = middle < s.C.shape().rows ? milliseconds_since(begin) : 0;
  report.gpu_rows = middle;
  report.gpu_share = rows > 0 ? static_cast<double>(middle) / rows : 1 - host_share;
  if (middle > 0) {
    s.gpu.synchronize();
    report.gpu_ms = s.end.ms_since(s.begin);
  }
  return s.C;
}

namespace {

/// A matrix of diagonals 0 … count − 1 with values that are not 0.
template <class T>
HostDiaMatrix<T> sample_band(HostContext& host, Index rows, Index count) {
  DiaShape shape{rows, rows, {}};
  for (Index d = 0; d < std::min(count, rows); ++d) shape.offsets.push_back(d);
  HostDiaMatrix<T> A(host, shape);
  std::fill_n(A.values(), A.size(), T{1});
  for (Index d = 0; d < A.shape().diagonals(); ++d) {
    std::fill_n(A.values() + d * A.ld() + (rows - d), A.ld() - (rows - d), T{0});
  }
  return A;
}

/// The median times of a product with this share: of the host, of the GPU, and of all. With both
/// sides at work, what neither of them does counts for both.
struct Times {
  double host = 0;
  double gpu = 0;
  double all = 0;
};

template <class T>
Times time_share(HybridBand<T>& product, double host_share) {
  // Runs after one that is not counted: threads and GPU reach their pace after some of them.
  constexpr std::size_t kLeastRuns = 7;
  constexpr double kLeastMs = 3;
  HybridReport report;
  product.multiply(host_share, report);
  std::vector<double> host;
  std::vector<double> gpu;
  std::vector<double> all;
  for (double total = 0; all.size() < kLeastRuns || total < kLeastMs; total += all.back()) {
    const Clock::time_point begin = Clock::now();
    product.multiply(host_share, report);
    all.push_back(milliseconds_since(begin));
    const double rest = all.back() - std::max(report.cpu_ms, report.gpu_ms);
    host.push_back(report.cpu_ms > 0 ? report.cpu_ms + rest : 0);
    gpu.push_back(report.gpu_ms > 0 ? report.gpu_ms + rest : 0);
  }
  return {median(std::move(host)), median(std::move(gpu)), median(std::move(all))};
}

BandWork part_of(const BandWork& work, double part) {
  return {part * work.multiplications, part * work.entries};
}

}  // namespace

template <Scalar T>
BandCosts measure_band_costs(CudaContext& context_gpu, HostContext& context_host, Index rows) {
  if (rows <= 0) throw InvalidArgument("the costs of band products need at least one row");
  struct Bands {
    Index A;
    Index B;
  };
  constexpr double kHalf = 0.5;
  std::vector<BandSample> host, gpu, host_alone, gpu_alone;
  // All samples have `rows` rows: what the host's caches hold of a product decides about its speed.
  for (const auto& [left, right] :
       {Bands{2, 3}, Bands{2, 6}, Bands{4, 4}, Bands{3, 6}, Bands{5, 5}, Bands{6, 6}}) {
    const HostDiaMatrix<T> A = sample_band<T>(context_host, rows, left);
    const HostDiaMatrix<T> B = sample_band<T>(context_host, rows, right);
    HybridBand<T> product(context_gpu, context_host, A, B);
    const Times both = time_share(product, kHalf);
    if (both.host > 0 && both.gpu > 0) {
      host.push_back({part_of(product.work(), kHalf), both.host});
      gpu.push_back({part_of(product.work(), 1 - kHalf), both.gpu});
    }
    host_alone.push_back({product.work(), time_share(product, 1).all});
    gpu_alone.push_back({product.work(), time_share(product, 0).all});
  }
  // Few rows are not shared.
  if (host.empty()) host = host_alone;
  if (gpu.empty()) gpu = gpu_alone;
  return {fit_band_cost(host), fit_band_cost(gpu), fit_band_cost(host_alone),
          fit_band_cost(gpu_alone)};
}

#define HEDDLE_INSTANTIATE(T)   \
  template class HybridBand<T>; \
  template BandCosts measure_band_costs<T>(CudaContext&, HostContext&, Index);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
