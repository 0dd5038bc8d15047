#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/cuda/stream/page_lock.hpp>
#include <heddle/spgemm/cuda/stream/streamed.hpp>
#include <heddle/spgemm/hybrid.hpp>
#include <heddle/spgemm/hybrid/sampling.hpp>
#include <heddle/spgemm/plan/product_checks.hpp>
#include <heddle/spgemm/share.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace heddle {
namespace {

/// Rows first … last − 1 of a matrix in any memory. `offsets`: its row offsets in host memory.
template <class T, class Space>
CsrView<T, Space> rows_of(const CsrView<T, Space>& A, const Index* offsets, Index first,
                          Index last) {
  return {last - first,          A.cols,    offsets[last] - offsets[first],
          A.row_offsets + first, A.columns, A.values};
}

}  // namespace

template <Scalar T>
struct HybridSpgemm<T>::State {
  CudaContext& gpu;
  HostContext& host;
  CsrView<T, HostSpace> A;
  CsrView<T, HostSpace> B;
  CsrMatrix<T, DeviceSpace> A_on_gpu;
  std::shared_ptr<const CsrMatrix<T, DeviceSpace>> B_on_gpu;
  std::vector<Index> work;  ///< multiplications of the rows before each row

  // The memory of C.
  detail::LockedArray<std::int64_t> row_offsets = {};
  detail::LockedArray<std::int32_t> columns = {};
  detail::LockedArray<T> values = {};

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

  /// Calls on_gpu() and on_host() at the same time, but neither that the share of the rows leaves
  /// without work. Adds how long they took.
  template <class OnGpu, class OnHost>
  void run_both(const OnGpu& on_gpu, const OnHost& on_host, HybridReport& report) {
    const auto timed = [](const auto& side) {
      const Clock::time_point begin = Clock::now();
      side();
      return milliseconds_since(begin);
    };
    if (report.gpu_rows == 0) {
      report.cpu_ms += timed(on_host);
    } else if (report.gpu_rows == A.rows) {
      report.gpu_ms += timed(on_gpu);
    } else {
      std::future<double> gpu_side = std::async(std::launch::async, [&] {
        check(cudaSetDevice(gpu.device().ordinal));
        return timed(on_gpu);
      });
      report.cpu_ms += timed(on_host);
      report.gpu_ms += gpu_side.get();
    }
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

  /// See `HybridSpgemm::multiply`.
  CsrView<T, HostSpace> multiply(double gpu_share, std::size_t device_bytes, HybridReport& report) {
    const Index rows = A.rows;
    const Index middle = rows_of_share(gpu_share);
    report = {};
    report.gpu_rows = middle;
    const auto part = static_cast<double>(work[static_cast<std::size_t>(middle)]);
    report.gpu_share = work.back() > 0 ? part / static_cast<double>(work.back()) : gpu_share;

    // The places of both parts in C are known once the entries of the first one are counted.
    row_offsets.reserve(host, static_cast<std::size_t>(rows) + 1);
    Index* const offsets = row_offsets.data();
    offsets[0] = 0;
    std::optional<SpgemmPlan<T, CudaContext>> gpu_plan;
    std::optional<SpgemmPlan<T, HostContext>> host_plan;
    const auto count_on_gpu = [&] {
      gpu_plan.emplace(gpu, gpu_rows(0, middle), B_on_gpu->view());
      gpu_plan->fetch_row_offsets(gpu, offsets);
    };
    run_both(
        count_on_gpu, [&] { host_plan.emplace(host, host_rows(middle, rows), B); }, report);
    const Index first_part = offsets[middle];
    const Index nnz = first_part + (host_plan ? host_plan->counts().nnz : 0);
    columns.reserve(host, static_cast<std::size_t>(nnz));
    values.reserve(host, static_cast<std::size_t>(nnz));
    const auto multiply_on_gpu = [&] {
      detail::multiply_to_host(gpu, *gpu_plan, gpu_rows(0, middle), B_on_gpu->view(), offsets,
                               device_bytes, columns.data(), values.data());
    };
    const auto multiply_on_host = [&] {
      std::vector<Index> own(static_cast<std::size_t>(rows - middle) + 1);
      host_plan->multiply_into(host, host_rows(middle, rows), B, own.data(),
                               columns.data() + first_part, values.data() + first_part);
      for (Index i = middle + 1; i <= rows; ++i) {
        offsets[i] = first_part + own[static_cast<std::size_t>(i - middle)];
      }
    };
    run_both(multiply_on_gpu, multiply_on_host, report);
    return {rows, B.cols, nnz, offsets, columns.data(), values.data()};
  }

  /// The shortest time of some products with this share, and its report.
  double shortest_ms(double share, std::size_t device_bytes, HybridReport& report) {
    double least = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= kRuns; ++run) {
      HybridReport made;
      const Clock::time_point begin = Clock::now();
      multiply(share, device_bytes, made);
      const double ms = milliseconds_since(begin);
      if (run == 0 || ms >= least) continue;  // kernels are loaded when they first run
      least = ms;
      report = made;
    }
    return least;
  }

  /// The shortest times of this product on each side alone and on both, as parts of a product with
  /// `total` multiplications.
  detail::SampledTimes sample_times(double total, std::size_t device_bytes) {
    const double all = static_cast<double>(work.back()) / total;
    HybridReport both;
    const double host_alone = shortest_ms(0, device_bytes, both);
    const double gpu_alone = shortest_ms(1, device_bytes, both);
    constexpr double kHalf = 0.5;
    // Work that neither side does counts for both.
    const double rest = shortest_ms(kHalf, device_bytes, both) - std::max(both.cpu_ms, both.gpu_ms);
    return {{all * (1 - both.gpu_share), both.cpu_ms + rest},
            {all * both.gpu_share, both.gpu_ms + rest},
            {all, host_alone},
            {all, gpu_alone}};
  }

  /// `share`, or `alone` if whole products with that are as fast, as far as they take no more than
  /// `most_ms` to time.
  double confirmed(double share, double alone, double alone_ms, double most_ms,
                   std::size_t device_bytes) {
    constexpr double kMargin = 0.03;
    if (share == alone || 2 * (kRuns + 1) * alone_ms > most_ms) return share;
    HybridReport report;
    const double shared_ms = shortest_ms(share, device_bytes, report);
    return shared_ms < (1 - kMargin) * shortest_ms(alone, device_bytes, report) ? share : alone;
  }

  static constexpr int kRuns = 3;
};

template <Scalar T>
HybridSpgemm<T>::HybridSpgemm(CudaContext& gpu, HostContext& host, CsrView<T, HostSpace> A,
                              CsrView<T, HostSpace> B)
    : state_(new State{gpu, host, A, B, {}, {}, {}}) {
  detail::require_factors(A, B);
  state_->A_on_gpu = place(gpu, convert<T>(host, A));
  state_->B_on_gpu =
      std::make_shared<const CsrMatrix<T, DeviceSpace>>(place(gpu, convert<T>(host, B)));
  state_->work = detail::work_before_rows(A, B);
}

template <Scalar T>
HybridSpgemm<T>::~HybridSpgemm() = default;

template <Scalar T>
CsrView<T, HostSpace> HybridSpgemm<T>::multiply(double gpu_share, std::size_t device_bytes,
                                                HybridReport& report) {
  if (!(gpu_share >= 0 && gpu_share <= 1)) {
    throw InvalidArgument(fmt::format(
        "C = A B on host and GPU: the share of the GPU is {}, it must lie in 0 … 1", gpu_share));
  }
  return state_->multiply(gpu_share, device_bytes, report);
}

template <Scalar T>
double HybridSpgemm<T>::measure_share(double sample, std::size_t device_bytes) {
  // Smaller products are timed as a whole.
  constexpr double kLeastWork = 2e6;
  constexpr double kPart = 0.25;
  // Time for products that confirm the share, in addition to that of the samples.
  constexpr double kConfirmationMs = 200;
  State& s = *state_;
  if (!(sample > 0 && sample <= 1)) {
    throw InvalidArgument(fmt::format(
        "C = A B on host and GPU: the sample is {} of the rows, it must lie in 0 … 1, above 0",
        sample));
  }
  const auto total = static_cast<double>(s.work.back());
  if (total == 0) return 0;
  const Clock::time_point begin = Clock::now();
  const double share = std::min(1.0, std::max(sample, kLeastWork / total));
  const auto times_of = [&](double part) {
    const HostCsrMatrix<T> rows = s.sample_rows(part);
    State sampled{s.gpu,
                  s.host,
                  rows.view(),
                  s.B,
                  place(s.gpu, convert<T>(s.host, rows.view())),
                  s.B_on_gpu,
                  detail::work_before_rows(rows.view(), s.B)};
    return sampled.sample_times(total, device_bytes);
  };
  const detail::SampledTimes large = times_of(share);
  const detail::SampledTimes small = times_of(share * kPart);
  const SharedCosts costs{detail::line_through(large.host, small.host),
                          detail::line_through(large.gpu, small.gpu),
                          detail::line_through(large.host_alone, small.host_alone).ms(),
                          detail::line_through(large.gpu_alone, small.gpu_alone).ms()};
  const bool gpu_is_faster = costs.gpu_alone_ms < costs.host_alone_ms;
  return s.confirmed(1 - balanced_share(costs, kLeastGain), gpu_is_faster ? 1 : 0,
                     std::min(costs.gpu_alone_ms, costs.host_alone_ms),
                     std::max(milliseconds_since(begin), kConfirmationMs), device_bytes);
}

#define HEDDLE_INSTANTIATE(T) template class HybridSpgemm<T>;
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
