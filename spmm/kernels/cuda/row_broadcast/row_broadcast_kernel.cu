#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/row_broadcast/row_broadcast_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

struct RowBroadcastConfig {
  static constexpr int kThreads = 128;
  static constexpr int kBlocks = 10;  // least number per multiprocessor: see lanes.cuh
  static constexpr int kRows = kThreads / kWarpSize;
  static constexpr int kBatch = 8;  // loads of B in flight per lane
  static_assert(kWarpSize % kBatch == 0);
};

template <class Config, class T>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void row_broadcast_kernel(SpmmProduct<T> p) {
  const Index row = static_cast<Index>(blockIdx.x) * Config::kRows + threadIdx.x / kWarpSize;
  if (row >= p.A.rows) return;
  const int lane = threadIdx.x % kWarpSize;
  const Index column = static_cast<Index>(blockIdx.y) * kWarpSize + lane;
  const bool active = column < p.N;
  const Index end = p.A.row_offsets[row + 1];

  T sum = 0;
  for (Index first = p.A.row_offsets[row]; first < end; first += kWarpSize) {
    const int count = static_cast<int>(min(static_cast<Index>(kWarpSize), end - first));
    const int own_column = lane < count ? __ldg(p.A.columns + first + lane) : 0;
    const T own_value = lane < count ? __ldg(p.A.values + first + lane) : T{0};
    for (int k = 0; k < count; k += Config::kBatch) {
      T b[Config::kBatch] = {};
#pragma unroll
      for (int u = 0; u < Config::kBatch; ++u) {
        const Index b_row = __shfl_sync(kFullWarp, own_column, k + u);
        if (active && k + u < count) b[u] = __ldg(p.B + b_row * p.ldb + column);
      }
#pragma unroll
      for (int u = 0; u < Config::kBatch; ++u) {
        sum += __shfl_sync(kFullWarp, own_value, k + u) * b[u];
      }
    }
  }
  if (active) finish(p, row, column, Lane<T, 1>{{sum}});
}

template <class T>
class RowBroadcastPlan : public KernelPlan<T, DeviceSpace> {
 public:
  RowBroadcastPlan(CudaContext&, const KernelMatrix<T, DeviceSpace>&) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    using Config = RowBroadcastConfig;
    const dim3 grid(blocks_for(product.A.rows, Config::kRows), blocks_for(product.N, kWarpSize));
    row_broadcast_kernel<Config><<<grid, Config::kThreads, 0, context.stream()>>>(product);
    check_launch();
  }
};

}  // namespace

KernelMakers<DeviceSpace> RowBroadcastKernel::makers() {
  return makers_of<RowBroadcastKernel, RowBroadcastPlan, DeviceSpace>();
}

}  // namespace heddle::detail::cuda
