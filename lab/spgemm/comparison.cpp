#include "spgemm/comparison.hpp"

#include <exception>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <utility>

#include "spgemm/band_comparison.hpp"
#include "spgemm/stopwatch.hpp"
#ifdef HEDDLE_HAS_CUDA
#include <heddle/spgemm/hybrid.hpp>
#include <heddle/spgemm/spgemm.hpp>

#include "spgemm/cusparse_product.hpp"
#endif

namespace heddle::lab {
namespace {

/// Fills in the times of heddle's product in a context.
template <Scalar T, class Ctx>
void time_plan(Ctx& context, CsrView<T, typename Ctx::Space> A, CsrView<T, typename Ctx::Space> B,
               SpgemmTiming& timing) {
  const std::size_t before = context.allocation_count().live_bytes;
  (void)spgemm<T>(context, A, B);
  timing.peak_bytes = static_cast<double>(context.allocation_count().peak_bytes - before);
  {
    const SpgemmPlan<T, Ctx> plan(context, A, B);
    auto C = plan.multiply(context, A, B);
    timing.update_ms = median_ms([&] {
      plan.update(context, A, B, C);
      context.synchronize();
    });
  }
  timing.inspect_ms = median_ms([&] {
    const SpgemmPlan<T, Ctx> plan(context, A, B);
    context.synchronize();
  });
  timing.total_ms = median_ms([&] {
    const auto C = spgemm<T>(context, A, B);
    context.synchronize();
  });
}

#ifdef HEDDLE_HAS_CUDA
/// Fills in the times of the product on host and GPU at once, shared as a sample says.
template <Scalar T>
void time_hybrid(CudaContext& context, HostContext& host, CsrView<T, HostSpace> A,
                 CsrView<T, HostSpace> B, SpgemmTiming& timing) {
  constexpr double kSample = 0.02;
  constexpr std::size_t kShareOfMemory = 2;
  HybridSpgemm<T> product(context, host, A, B);
  const std::size_t limit = context.free_bytes() / kShareOfMemory;
  const double share = product.measure_share(kSample, limit);
  HybridReport report;
  timing.total_ms = median_ms([&] { product.multiply(share, limit, report); });
  timing.gpu_share = report.gpu_share;
  timing.idle_ms = report.idle_ms();
  timing.peak_bytes = static_cast<double>(context.allocation_count().peak_bytes);
}

template <Scalar T>
void compare_on_gpu(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B,
                    const SpgemmComparisonOptions& options, SpgemmComparison& comparison) {
  HostContext host(options.threads);
  // An implementation has a context of its own, so that its peak of memory is its own.
  const auto with_factors = [&](const auto& work) {
    CudaContext context;
    comparison.device = context.device().name;
    const CsrMatrix<T, DeviceSpace> left = place(context, convert<T>(host, A));
    const bool same = A.values == B.values && A.columns == B.columns;
    const auto right = same ? CsrMatrix<T, DeviceSpace>() : place(context, convert<T>(host, B));
    context.synchronize();
    work(context, left.view(), same ? left.view() : right.view());
  };
  if (options.gpu) {
    add_timing(comparison, "gpu", [&](SpgemmTiming& timing) {
      with_factors([&](CudaContext& context, auto left, auto right) {
        time_plan<T>(context, left, right, timing);
      });
    });
  }
  if (options.hybrid) {
    add_timing(comparison, "hybrid", [&](SpgemmTiming& timing) {
      CudaContext context;
      time_hybrid<T>(context, host, A, B, timing);
    });
  }
  if (options.cusparse) {
    add_timing(comparison, "cusparse", [&](SpgemmTiming& timing) {
      with_factors([&](CudaContext& context, auto left, auto right) {
        CusparseProduct<T> product(context, left, right);
        const std::size_t before = context.allocation_count().live_bytes;
        product.multiply();
        timing.peak_bytes = static_cast<double>(context.allocation_count().peak_bytes - before);
        timing.total_ms = median_ms([&] { product.multiply(); });
      });
    });
  }
  if (options.column_row) {
    add_timing(comparison, "column-row", [&](SpgemmTiming& timing) {
      with_factors([&](CudaContext& context, auto left, auto right) {
        const std::size_t before = context.allocation_count().live_bytes;
        timing.total_ms = median_ms([&] {
          const auto C = spgemm_column_row<T>(context, left, right);
          context.synchronize();
        });
        timing.peak_bytes = static_cast<double>(context.allocation_count().peak_bytes - before);
      });
    });
  }
}
#else
template <Scalar T>
void compare_on_gpu(CsrView<T, HostSpace>, CsrView<T, HostSpace>,
                    const SpgemmComparisonOptions& options, SpgemmComparison& comparison) {
  if (options.gpu) add_timing(comparison, "gpu", fail_without_cuda);
  if (options.hybrid) add_timing(comparison, "hybrid", fail_without_cuda);
  if (options.cusparse) add_timing(comparison, "cusparse", fail_without_cuda);
  if (options.column_row) add_timing(comparison, "column-row", fail_without_cuda);
}
#endif

}  // namespace

void add_timing(SpgemmComparison& comparison, std::string name,
                const std::function<void(SpgemmTiming&)>& work) {
  SpgemmTiming timing;
  timing.name = std::move(name);
  try {
    work(timing);
  } catch (const std::exception& error) {
    timing.failure = error.what();
  }
  comparison.timings.push_back(std::move(timing));
}

void fail_without_cuda(SpgemmTiming&) {
  throw DeviceError("heddle was built without the CUDA backend");
}

template <Scalar T>
SpgemmComparison compare_spgemm(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B,
                                const SpgemmComparisonOptions& options, FormatChoice format) {
  SpgemmComparison comparison;
  comparison.format = std::move(format);
  {
    HostContext context(options.threads);
    comparison.counts = SpgemmPlan<T, HostContext>(context, A, B).counts();
  }
  SpgemmComparisonOptions by_rows = options;
  if (comparison.format.dia) {
    compare_bands<T>(A, B, comparison.format, options, comparison);
    by_rows.cpu = by_rows.gpu = by_rows.hybrid = false;
  }
  if (by_rows.cpu) {
    add_timing(comparison, "cpu", [&](SpgemmTiming& timing) {
      HostContext context(options.threads);
      time_plan<T>(context, A, B, timing);
    });
  }
  compare_on_gpu<T>(A, B, by_rows, comparison);
  if (comparison.format.dia) {
    HostContext context(1);
    const BandPlan<T, HostContext> plan(context, comparison.format.A, comparison.format.B);
    const Index places = plan.product().rows * plan.product().diagonals();
    comparison.product_bytes = static_cast<double>(places) * sizeof(T);
  } else {
    comparison.product_bytes = csr_bytes<T>(A.rows, comparison.counts.nnz);
  }
  return comparison;
}

template SpgemmComparison compare_spgemm(CsrView<float, HostSpace>, CsrView<float, HostSpace>,
                                         const SpgemmComparisonOptions&, FormatChoice);
template SpgemmComparison compare_spgemm(CsrView<double, HostSpace>, CsrView<double, HostSpace>,
                                         const SpgemmComparisonOptions&, FormatChoice);

}  // namespace heddle::lab
