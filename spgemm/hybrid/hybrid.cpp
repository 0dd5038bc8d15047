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
#include <heddle/spgemm/plan/product_checks.hpp>
#include <heddle/spgemm/spgemm.hpp>
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

  /// Calls on_gpu() on a thread of its own and on_host() on this one. Sets how long they took.
  template <class OnGpu, class OnHost>
  void run_both(const OnGpu& on_gpu, const OnHost& on_host, HybridReport& report) {
    auto gpu_side = std::async(std::launch::async, [&] {
      const Clock::time_point begin = Clock::now();
      check(cudaSetDevice(gpu.device().ordinal));
      on_gpu();
      return since(begin);
    });
    const Clock::time_point begin = Clock::now();
    on_host();
    report.cpu_ms += since(begin);
    report.gpu_ms += gpu_side.get();
  }
};

template <Scalar T>
HybridSpgemm<T>::HybridSpgemm(CudaContext& gpu, HostContext& host, CsrView<T, HostSpace> A,
                              CsrView<T, HostSpace> B)
    : state_(new State{gpu, host, A, B, {}, {}, {}}) {
  detail::require_factors(A, B);
  state_->A_on_gpu = place(gpu, convert<T>(host, A));
  state_->B_on_gpu = place(gpu, convert<T>(host, B));
  std::vector<Index>& work = state_->work;
  work.resize(static_cast<std::size_t>(A.rows) + 1);
  for (Index i = 0; i < A.rows; ++i) {
    Index products = 0;
    for (Index a = A.row_offsets[i]; a < A.row_offsets[i + 1]; ++a) {
      products += B.row_offsets[A.columns[a] + 1] - B.row_offsets[A.columns[a]];
    }
    work[static_cast<std::size_t>(i) + 1] = work[static_cast<std::size_t>(i)] + products;
  }
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
  std::optional<SpgemmPlan<T, HostContext>> host_plan;
  const auto count_on_gpu = [&] {
    const SpgemmPlan<T, CudaContext> plan(s.gpu, s.gpu_rows(0, middle), s.B_on_gpu.view());
    plan.fetch_row_offsets(s.gpu, offsets.data());
  };
  s.run_both(
      count_on_gpu, [&] { host_plan.emplace(s.host, s.host_rows(middle, rows), s.B); }, report);
  const Index first_part = offsets[static_cast<std::size_t>(middle)];
  HostCsrMatrix<T> C(s.host, rows, s.B.cols, first_part + host_plan->counts().nnz);
  host_plan->fetch_row_offsets(s.host, offsets.data() + middle);
  for (Index i = middle; i <= rows; ++i) offsets[static_cast<std::size_t>(i)] += first_part;
  std::copy(offsets.begin(), offsets.end(), C.row_offsets());

  const auto multiply_on_gpu = [&] {
    detail::multiply_to_host(s.gpu, s.gpu_rows(0, middle), s.B_on_gpu.view(), C.row_offsets(),
                             device_bytes, C.columns(), C.values());
  };
  const auto multiply_on_host = [&] {
    const HostCsrMatrix<T> block = host_plan->multiply(s.host, s.host_rows(middle, rows), s.B);
    std::copy_n(block.view().columns, block.nnz(), C.columns() + first_part);
    std::copy_n(block.view().values, block.nnz(), C.values() + first_part);
  };
  s.run_both(multiply_on_gpu, multiply_on_host, report);
  return C;
}

template <Scalar T>
double HybridSpgemm<T>::measure_share(double sample, std::size_t device_bytes) {
  State& s = *state_;
  if (!(sample > 0 && sample <= 1)) {
    throw InvalidArgument(fmt::format(
        "C = A B on host and GPU: the sample is {} of the rows, it must lie in 0 … 1, above 0",
        sample));
  }
  // The middle of the matrix, whose rows are seldom shorter than the others.
  const Index first = s.rows_of_share((1 - sample) / 2);
  const Index last = std::max(s.rows_of_share((1 + sample) / 2), std::min(first + 1, s.A.rows));
  HybridReport report;
  const auto on_gpu = [&] {
    spgemm_to_host<T>(s.gpu, s.host, s.gpu_rows(first, last), s.B_on_gpu.view(), device_bytes);
  };
  on_gpu();  // kernels are loaded when they first run
  s.run_both(
      on_gpu, [] {}, report);
  const double gpu_ms = report.gpu_ms;
  s.run_both([] {}, [&] { spgemm<T>(s.host, s.host_rows(first, last), s.B); }, report);
  return report.cpu_ms > 0 ? report.cpu_ms / (report.cpu_ms + gpu_ms) : 1;
}

#define HEDDLE_INSTANTIATE(T) template class HybridSpgemm<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
