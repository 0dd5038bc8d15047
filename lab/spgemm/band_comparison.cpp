#include "spgemm/band_comparison.hpp"

#include "spgemm/stopwatch.hpp"
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/base/clock.hpp>
#include <heddle/spgemm/hybrid_band.hpp>
#endif

namespace heddle::lab {
namespace {

/// Fills in the times of a product in a context, in whose memory the factors lie.
template <class Plan, class Ctx, class Matrix>
void time_plan(Ctx& context, const Matrix& A, const Matrix& B, SpgemmTiming& timing) {
  const std::size_t before = context.allocation_count().live_bytes;
  {
    const Plan plan(context, A.shape(), B.shape());
    Matrix C = plan.multiply(context, A, B);
    timing.peak_bytes = static_cast<double>(context.allocation_count().peak_bytes - before);
    timing.update_ms = median_ms([&] {
      plan.update(context, A, B, C, 0, plan.product().rows);
      context.synchronize();
    });
  }
  timing.inspect_ms = median_ms([&] { const Plan plan(context, A.shape(), B.shape()); });
  timing.total_ms = median_ms([&] {
    const Plan plan(context, A.shape(), B.shape());
    const Matrix C = plan.multiply(context, A, B);
    context.synchronize();
  });
}

#ifdef HEDDLE_HAS_CUDA
template <Scalar T>
void compare_on_gpu(HostContext& host, const HostDiaMatrix<T>& A, const HostDiaMatrix<T>& B,
                    const SpgemmComparisonOptions& options, SpgemmComparison& comparison) {
  if (options.gpu) {
    add_timing(comparison, "gpu", [&](SpgemmTiming& timing) {
      CudaContext context;
      comparison.device = context.device().name;
      const DiaMatrix<T, DeviceSpace> left = place(context, A);
      const DiaMatrix<T, DeviceSpace> right = place(context, B);
      time_plan<BandPlan<T, CudaContext>>(context, left, right, timing);
    });
  }
  if (options.hybrid) {
    add_timing(comparison, "hybrid", [&](SpgemmTiming& timing) {
      CudaContext context;
      comparison.device = context.device().name;
      HybridBand<T> product(context, host, A, B);
      const BandCosts costs = measure_band_costs<T>(context, host, A.shape().rows);
      const double share = band_split(costs, product.work());
      HybridReport report;
      timing.total_ms = median_ms([&] { product.multiply(share, report); });
      timing.gpu_share = report.gpu_share;
      timing.idle_ms = report.idle_ms();
      timing.peak_bytes = static_cast<double>(context.allocation_count().peak_bytes);
    });
  }
}
#else
template <Scalar T>
void compare_on_gpu(HostContext&, const HostDiaMatrix<T>&, const HostDiaMatrix<T>&,
                    const SpgemmComparisonOptions& options, SpgemmComparison& comparison) {
  if (options.gpu) add_timing(comparison, "gpu", fail_without_cuda);
  if (options.hybrid) add_timing(comparison, "hybrid", fail_without_cuda);
}
#endif

}  // namespace

template <Scalar T>
void compare_bands(CsrView<T, HostSpace> A, CsrView<T, HostSpace> B, const FormatChoice& format,
                   const SpgemmComparisonOptions& options, SpgemmComparison& comparison) {
  if (!options.cpu && !options.gpu && !options.hybrid) return;
  HostContext host(options.threads);
  const auto begin = Clock::now();
  const HostDiaMatrix<T> left = dia_from_csr<T>(host, A, format.A);
  const bool same = A.columns == B.columns && A.values == B.values;
  const HostDiaMatrix<T> other = same ? HostDiaMatrix<T>() : dia_from_csr<T>(host, B, format.B);
  const HostDiaMatrix<T>& right = same ? left : other;
  comparison.convert_ms = milliseconds_since(begin);
  if (options.cpu) {
    add_timing(comparison, "cpu", [&](SpgemmTiming& timing) {
      time_plan<BandPlan<T, HostContext>>(host, left, right, timing);
    });
  }
  compare_on_gpu<T>(host, left, right, options, comparison);
}

template void compare_bands(CsrView<float, HostSpace>, CsrView<float, HostSpace>,
                            const FormatChoice&, const SpgemmComparisonOptions&, SpgemmComparison&);
template void compare_bands(CsrView<double, HostSpace>, CsrView<double, HostSpace>,
                            const FormatChoice&, const SpgemmComparisonOptions&, SpgemmComparison&);

}  // namespace heddle::lab
