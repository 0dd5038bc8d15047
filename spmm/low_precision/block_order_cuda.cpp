#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/block_schedule.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/stream_clock.hpp>
#include <numeric>
#include <random>
#include <utility>

namespace heddle {
namespace {

constexpr Index kBlockRows[] = {512, 2048, 8192};
constexpr Index kBlocksPerRow = 9;

/// A band of blocks with one entry each, in an order of the columns.
HostCsrMatrix<float> block_band(HostContext& host, Index block_rows, BlockShape shape,
                                const std::vector<std::int32_t>& order) {
  HostCsrMatrix<float> A(host, block_rows * shape.height, block_rows * shape.width,
                         block_rows * kBlocksPerRow);
  Index k = 0;
  for (Index row = 0; row < A.rows(); ++row) {
    A.row_offsets()[row] = k;
    if (row % shape.height != 0) continue;
    const Index first =
        std::clamp<Index>(row / shape.height - kBlocksPerRow / 2, 0, block_rows - kBlocksPerRow);
    std::int32_t* const columns = A.columns() + k;
    for (Index block = 0; block < kBlocksPerRow; ++block, ++k) {
      const Index column = (first + block) * shape.width;
      A.columns()[k] = order.empty() ? static_cast<std::int32_t>(column)
                                     : order[static_cast<std::size_t>(column)];
      A.values()[k] = 1;
    }
    std::sort(columns, columns + kBlocksPerRow);
  }
  A.row_offsets()[A.rows()] = k;
  return A;
}

template <class V>
MeasuredTime measure(CudaContext& context, HostContext& host, Index block_rows, Index N,
                     bool gathered) {
  constexpr BlockShape shape = LowPrecisionPlan<V, CudaContext>::kShape;
  BlockOrder order;
  if (gathered) {
    order.columns.resize(static_cast<std::size_t>(block_rows * shape.width));
    std::iota(order.columns.begin(), order.columns.end(), 0);
    std::shuffle(order.columns.begin(), order.columns.end(), std::mt19937(1));
  }
  const HostCsrMatrix<float> A = block_band(host, block_rows, shape, order.columns);
  LowPrecisionPlan<V, CudaContext> plan(
      context, host, A.view(),
      {.scaling = RangeScaling::none, .kernel = "blocks", .order = std::move(order)});
  Buffer<V, DeviceSpace> B(context, static_cast<std::size_t>(A.cols() * N));
  check(cudaMemsetAsync(B.data(), 0, B.size() * sizeof(V), context.stream()));
  Buffer<float, DeviceSpace> C(context, static_cast<std::size_t>(A.rows() * N));
  const double seconds = detail::seconds_of(context, [&] {
    plan.multiply(context, ConstBlockView<V, DeviceSpace>(B.data(), A.cols(), N, N),
                  BlockView<float, DeviceSpace>(C.data(), A.rows(), N, N));
  });
  return {static_cast<double>(block_rows * kBlocksPerRow), seconds};
}

}  // namespace

template <class V>
LinearTime measured_block_time(CudaContext& context, HostContext& host, Index N, bool gathered) {
  const Index slab = detail::slab_columns(N);
  const Index columns = (N + slab - 1) / slab * slab;
  const std::string key = fmt::format("{} {} {} {}", context.device().name,
                                      limits_of(precision_of<V>()).name, columns, gathered);
  return fitted_linear_time(key, [&] {
    std::vector<MeasuredTime> measured;
    for (const Index block_rows : kBlockRows) {
      measured.push_back(measure<V>(context, host, block_rows, columns, gathered));
    }
    return measured;
  });
}

template <class V>
BlockOrdering fastest_block_order(CudaContext& context, HostContext& host, const RowPattern& A,
                                  Index N) {
  const BlockTimes times{measured_block_time<V>(context, host, N, false).per_element,
                         measured_block_time<V>(context, host, N, true).per_element};
  return best_order_for_blocks(host, A, LowPrecisionPlan<V, CudaContext>::kShape, times);
}

#define HEDDLE_INSTANTIATE(V)                                                                  \
  template LinearTime measured_block_time<V>(CudaContext&, HostContext&, Index, bool);         \
  template BlockOrdering fastest_block_order<V>(CudaContext&, HostContext&, const RowPattern&, \
                                                Index);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
