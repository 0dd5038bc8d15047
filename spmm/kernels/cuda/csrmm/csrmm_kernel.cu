#include <cuda_pipeline.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/csrmm/csrmm_kernel.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>

namespace heddle::detail::cuda {
namespace {

template <int kWidthOf>
struct CsrmmConfig {
  static constexpr int kWidth = kWidthOf;  // values a lane loads at once
  static constexpr int kLanes = kWarpSize / 2;
  static constexpr int kThreads = 128;
  static constexpr int kRows = kThreads / kLanes;
  static constexpr int kStripe = kLanes * kWidth;  // columns of B at a time, the paper's TR_B
  static constexpr int kChunk = 8;  // entries of a row at a time, so that rows of B take 16 KiB
};

template <class Config, class Product>
__global__ __launch_bounds__(Config::kThreads) void csrmm_kernel(Product p) {
  using T = typename Product::Value;
  using Values = Lane<T, Config::kWidth>;
  constexpr int kChunk = Config::kChunk;
  __shared__ std::int32_t columns[Config::kRows][kChunk];
  __shared__ StoredValue<Product> values[Config::kRows][kChunk];
  __shared__ __align__(16) char staged[sizeof(Values) * Config::kRows * kChunk * Config::kLanes];

  const int lane = static_cast<int>(threadIdx.x) % Config::kLanes;
  const int team = static_cast<int>(threadIdx.x) / Config::kLanes;
  const unsigned half = (1U << Config::kLanes) - 1;
  const unsigned mask = team % 2 == 0 ? half : half << Config::kLanes;
  const Index row = static_cast<Index>(blockIdx.x) * Config::kRows + team;
  if (row >= p.A.rows) return;
  const Index column = static_cast<Index>(blockIdx.y) * Config::kStripe + lane * Config::kWidth;
  const bool active = column < p.N;
  Values* const own = reinterpret_cast<Values*>(staged) + (team * kChunk * Config::kLanes + lane);

  Values sum;
  const Index end = p.A.row_offsets[row + 1];
  for (Index chunk = p.A.row_offsets[row]; chunk < end; chunk += kChunk) {
    const int count = static_cast<int>(min(Index{kChunk}, end - chunk));
    if (lane < count) {
      columns[team][lane] = __ldg(p.A.columns + chunk + lane);
      values[team][lane] = load_value(values_from(p, chunk + lane), 0);
    }
    __syncwarp(mask);
    if (active) {
      for (int k = 0; k < count; ++k) {
        __pipeline_memcpy_async(own + k * Config::kLanes, p.B + columns[team][k] * p.ldb + column,
                                sizeof(Values));
      }
      __pipeline_commit();
      __pipeline_wait_prior(0);
      for (int k = 0; k < count; ++k) {
        multiply_add(static_cast<T>(values[team][k]), own[k * Config::kLanes], sum);
      }
    }
    __syncwarp(mask);
  }
  if (active) finish(p, row, column, sum);
}

template <class T, class V>
class CsrmmPlan : public KernelPlan<T, DeviceSpace> {
 public:
  CsrmmPlan(CudaContext& context, KernelMatrix<T, DeviceSpace>& matrix)
      : values_(context, matrix) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    const auto launch = [&]<int kWidth>() {
      using Config = CsrmmConfig<kWidth>;
      const dim3 grid(blocks_for(product.A.rows, Config::kRows),
                      blocks_for(product.N, Config::kStripe));
      csrmm_kernel<Config><<<grid, Config::kThreads, 0, context.stream()>>>(values_.in(product));
      check_launch();
    };
    if (is_vectorisable(product)) {
      launch.template operator()<kVectorWidth<T>>();
    } else {
      launch.template operator()<1>();
    }
  }

 private:
  StoredValues<T, V> values_;
};

}  // namespace

KernelMakers<DeviceSpace> CsrmmKernel::makers() {
  return makers_by_values<CsrmmKernel, CsrmmPlan>();
}

}  // namespace heddle::detail::cuda
