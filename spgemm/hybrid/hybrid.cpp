#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/cuda/streamed.hpp>
#include <heddle/spgemm/hybrid.hpp>
#include <heddle/spgemm/hybrid/sampling.hpp>
#include <heddle/spgemm/plan/product_checks.hpp>
#include <heddle/spgemm/share.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace heddle {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Rows first … last − 1 of a matrix in any memory. `offsets`: its row offsets in host memory.
template <class T, class Space>
CsrView<T, Space> rows_of(const CsrView<T, Space>& A, const Index* offsets, Index first,
                          Index last) {
  return {last - first,          A.cols,    offsets[last] - offsets[first],
          A.row_offsets + first, A.columns, A.values};
}

/// The shortest time of `work`, which runs once more before, because kernels are loaded when they
/// first run.
template <class Work>
double least_ms(const Work& work) {
  constexpr int kRuns = 3;
  work();
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const Clock::time_point begin = Clock::now();
    work();
    least = std::min(least, since(begin));
  }
  return least;
}

}  // namespace

template <Scalar T>
struct HybridSpgemm<T>::State {
  CudaContext& gpu;
  HostContext& host;
  CsrView<T, HostSpace> A;
  CsrView<T, HostSpace> B;
  CsrMatrix<T, DeviceSpace> A_on_gpu;
  CsrMatrix<T, DeviceSpace> B_on_gpu;
  std::vector<Index> work;  ///< multiplications of the rows before each row

  /// The number of first rows that have this share of the multiplications.
  Index rows_of_share(double share) const {
    const auto wanted = static_cast<Index>(share * static_cast<double>(work.back()) + 0.5);
    if (share >= 1) return A.rows;
    return std::lower_bound(work.begin(), work.end(), wanted) - work.begin();
  }

  CsrView<T, DeviceSpace> gpu_rows(Index first, Index last) const {
    return rows_of(A_on_gpu.view(), A.row_offsets, first, last);
  }
  CsrView<T, HostSpace> host_rows(Index first, Index last) const {
    return rows_of(A, A.row_offsets, first, last);
  }

  /// Calls on_gpu() on a thread of its own and on_host() on this one, but neither that the share of
  /// the rows leaves without work. Adds how long they took.
  template <class OnGpu, class OnHost>
  void run_both(const OnGpu& on_gpu, const OnHost& on_host, HybridReport& report) {
    std::future<double> gpu_side;
    if (report.gpu_rows > 0) {
      gpu_side = std::async(std::launch::async, [&] {
        const Clock::time_point begin = Clock::now();
        check(cudaSetDevice(gpu.device().ordinal));
        on_gpu();
        return since(begin);
      });
    }
    if (report.gpu_rows < A.rows) {
      const Clock::time_point begin = Clock::now();
      on_host();
      report.cpu_ms += since(begin);
    }
    if (gpu_side.valid()) report.gpu_ms += gpu_side.get();
  }

  /// Rows in stripes all over A that have about this share of the multiplications.
  HostCsrMatrix<T> sample_rows(double share) const {
    constexpr int kStripes = 16;
    std::vector<Index> rows;
    for (int stripe = 0; stripe < kStripes; ++stripe) {
      const Index first = rows_of_share((stripe + (1 - share) / 2) / kStripes);
      const Index last = rows_of_share((stripe + (1 + share) / 2) / kStripes);
      for (Index i = first; i < std::max(last, std::min(first + 1, A.rows)); ++i) {
        rows.push_back(i);
      }
    }
    Index nnz = 0;
    for (const Index i : rows) nnz += A.row_offsets[i + 1] - A.row_offsets[i];
    HostCsrMatrix<T> sample(host, static_cast<Index>(rows.size()), A.cols, nnz);
    Index next = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const Index begin = A.row_offsets[rows[r]];
      const Index length = A.row_offsets[rows[r] + 1] - begin;
      sample.row_offsets()[r] = next;
      std::copy_n(A.columns + begin, length, sample.columns() + next);
      std::copy_n(A.values + begin, length, sample.values() + next);
      next += length;
    }
    sample.row_offsets()[rows.size()] = next;
    return sample;
  }
};

template <Scalar T>
HybridSpgemm<T>::HybridSpgemm(CudaContext& gpu, HostContext& host, CsrView<T, HostSpace> A,
                              CsrView<T, HostSpace> B)
    : state_(new State{gpu, host, A, B, {}, {}, {}}) {
  detail::require_factors(A, B);
  state_->A_on_gpu = place(gpu, convert<T>(host, A));
  state_->B_on_gpu = place(gpu, convert<T>(host, B));
  state_->work = detail::work_before_rows(A, B);
}

template <Scalar T>
HybridSpgemm<T>::~HybridSpgemm() = default;

template <Scalar T>
HostCsrMatrix<T> HybridSpgemm<T>::multiply(double gpu_share, std::size_t device_bytes,
                                           HybridReport& report) {
  if (!(gpu_share >= 0 && gpu_share <= 1)) {
    throw InvalidArgument(fmt::format(
        "C = A B on host and GPU: the share of the GPU is {}, it must lie in 0 … 1", gpu_share));
  }
  State& s = *state_;
  const Index rows = s.A.rows;
  const Index middle = s.rows_of_share(gpu_share);
  report = {};
  report.gpu_rows = middle;
  const auto part = static_cast<double>(s.work[static_cast<std::size_t>(middle)]);
  report.gpu_share = s.work.back() > 0 ? part / static_cast<double>(s.work.back()) : gpu_share;

  // The places of both parts in C are known once the entries of the first one are counted.
  std::vector<Index> offsets(static_cast<std::size_t>(rows) + 1);
  std::optional<SpgemmPlan<T, CudaContext>> gpu_plan;
  std::optional<SpgemmPlan<T, HostContext>> host_plan;
  const auto count_on_gpu = [&] {
    gpu_plan.emplace(s.gpu, s.gpu_rows(0, middle), s.B_on_gpu.view());
    gpu_plan->fetch_row_offsets(s.gpu, offsets.data());
  };
  s.run_both(
      count_on_gpu, [&] { host_plan.emplace(s.host, s.host_rows(middle, rows), s.B); }, report);
  const Index first_part = offsets[static_cast<std::size_t>(middle)];
  HostCsrMatrix<T> C(s.host, rows, s.B.cols,
                     first_part + (host_plan ? host_plan->counts().nnz : 0));
  const auto multiply_on_gpu = [&] {
    std::copy_n(offsets.begin(), middle + 1, C.row_offsets());
    detail::multiply_to_host(s.gpu, *gpu_plan, s.gpu_rows(0, middle), s.B_on_gpu.view(),
                             offsets.data(), device_bytes, C.columns(), C.values());
  };
  const auto multiply_on_host = [&] {
    std::vector<Index> own(static_cast<std::size_t>(rows - middle) + 1);
    host_plan->multiply_into(s.host, s.host_rows(middle, rows), s.B, own.data(),
                             C.columns() + first_part, C.values() + first_part);
    for (Index i = middle + 1; i <= rows; ++i) {
      C.row_offsets()[i] = first_part + own[static_cast<std::size_t>(i - middle)];
    }
  };
  C.row_offsets()[0] = 0;
  s.run_both(multiply_on_gpu, multiply_on_host, report);
  return C;
}

template <Scalar T>
double HybridSpgemm<T>::measure_share(double sample, std::size_t device_bytes) {
  // Smaller products are timed as a whole.
  constexpr double kLeastWork = 2e6;
  constexpr double kPart = 0.25;
  // Both sides share the memory of the host, so that a small gain is none.
  constexpr double kLeastGain = 0.1;
  State& s = *state_;
  if (!(sample > 0 && sample <= 1)) {
    throw InvalidArgument(fmt::format(
        "C = A B on host and GPU: the sample is {} of the rows, it must lie in 0 … 1, above 0",
        sample));
  }
  const auto total = static_cast<double>(s.work.back());
  if (total == 0) return 0;
  const double share = std::min(1.0, std::max(sample, kLeastWork / total));
  std::vector<detail::TimedPart> host_times;
  std::vector<detail::TimedPart> gpu_times;
  for (const double part : {share, share * kPart}) {
    const HostCsrMatrix<T> rows = s.sample_rows(part);
    const auto on_gpu = place(s.gpu, convert<T>(s.host, rows.view()));
    const double work =
        static_cast<double>(detail::work_before_rows(rows.view(), s.B).back()) / total;
    host_times.push_back({work, least_ms([&] { spgemm<T>(s.host, rows.view(), s.B); })});
    gpu_times.push_back({work, least_ms([&] {
                           spgemm_to_host<T>(s.gpu, s.host, on_gpu.view(), s.B_on_gpu.view(),
                                             device_bytes);
                         })});
  }
  const SideCost host = detail::line_through(host_times[0], host_times[1]);
  const SideCost gpu = detail::line_through(gpu_times[0], gpu_times[1]);
  return 1 - balanced_share(host, gpu, kLeastGain);
}

#define HEDDLE_INSTANTIATE(T) template class HybridSpgemm<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
