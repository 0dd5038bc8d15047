#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/row_cached/row_cached_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

template <int kWidthOf, int kLanesOf>
struct RowCachedConfig {
  static constexpr int kWidth = kWidthOf;  // values a lane loads at once
  static constexpr int kLanes = kLanesOf;  // lanes per row
  static constexpr int kThreads = 256;
  static constexpr int kBlocks = 5;  // least number per multiprocessor: see lanes.cuh
  static constexpr int kRows = kThreads / kLanes;
  static constexpr int kStripe = kLanes * kWidth;
  static constexpr int kUnroll = 4;
  static constexpr int kChunk = 1024;  // nonzeros of A in shared memory
  static_assert(kChunk % kThreads == 0);
};

template <class Config, class Product>
__global__ __launch_bounds__(Config::kThreads, Config::kBlocks) void row_cached_kernel(Product p) {
  using T = typename Product::Value;
  __shared__ std::int32_t columns[Config::kChunk];
  __shared__ StoredValue<Product> values[Config::kChunk];

  const Index first_row = static_cast<Index>(blockIdx.x) * Config::kRows;
  const Index last_row = min(first_row + Config::kRows, p.A.rows);
  const Index row = min(first_row + threadIdx.x / Config::kLanes, last_row);
  const Index column = static_cast<Index>(blockIdx.y) * Config::kStripe +
                       threadIdx.x % Config::kLanes * Config::kWidth;
  const bool active = row < last_row && column < p.N;
  const Index begin = active ? p.A.row_offsets[row] : 0;
  const Index end = active ? p.A.row_offsets[row + 1] : 0;
  const Index block_end = p.A.row_offsets[last_row];
  wait_for_previous_kernel();

  Lane<T, Config::kWidth> sum;
  for (Index chunk = p.A.row_offsets[first_row]; chunk < block_end; chunk += Config::kChunk) {
    const Index chunk_end = min(chunk + Config::kChunk, block_end);
    for (Index k = chunk + threadIdx.x; k < chunk_end; k += Config::kThreads) {
      columns[k - chunk] = __ldg(p.A.columns + k);
      values[k - chunk] = load_value(values_from(p, k), 0);
    }
    __syncthreads();
    const int last = static_cast<int>(min(end, chunk_end) - chunk);
    for (int k = static_cast<int>(max(begin, chunk) - chunk); k < last; k += Config::kUnroll) {
      Lane<T, Config::kWidth> b[Config::kUnroll];
#pragma unroll
      for (int u = 0; u < Config::kUnroll; ++u) {
        if (k + u < last) b[u] = load_row<Config::kWidth>(p.B + column, columns[k + u], b_pitch(p));
      }
#pragma unroll
      for (int u = 0; u < Config::kUnroll; ++u) {
        if (k + u < last) multiply_add(static_cast<T>(values[k + u]), b[u], sum);
      }
    }
    __syncthreads();
  }
  if (active) finish(p, row, column, sum);
}

template <class T, class V>
class RowCachedPlan : public KernelPlan<T, DeviceSpace> {
 public:
  RowCachedPlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : values_(context, matrix) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    dispatch_lanes(product, kWarpSize, [&]<int kWidth, int kLanes>() {
      using Config = RowCachedConfig<kWidth, kLanes>;
      const dim3 grid(blocks_for(product.A.rows, Config::kRows),
                      blocks_for(product.N, Config::kStripe));
      const auto complete = values_.in(product);
      launch_dependent(row_cached_kernel<Config, std::remove_const_t<decltype(complete)>>,
                       {grid, Config::kThreads}, context.stream(), complete);
    });
  }

 private:
  StoredValues<T, V> values_;
};

}  // namespace

KernelMakers<DeviceSpace> RowCachedKernel::makers() {
  return makers_by_values<RowCachedKernel, RowCachedPlan>();
}

}  // namespace heddle::detail::cuda
