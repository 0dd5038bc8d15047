#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/column_sums.cuh>
#include <heddle/linalg/blocks/multiply_tiles.cuh>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

/// Largest number of columns of Z in one pass, divided by 8. Wider ones take two passes.
constexpr int kMaxUnits = 6;

/// The operands of R = Z₁ − Y diag(θ), Z₁ the first `cols` columns of Z.
template <class T>
struct ResidualArguments {
  int cols;
  const T* Y;
  Index Y_ld;
  const double* theta;
  T* R;
  Index R_ld;
};

/// A lane's sums of squares: those of columns 8u + 2t and 8u + 2t + 1 are 2u and 2u + 1.
template <int kUnits>
struct LaneSums {
  SquareSum (*sums)[kThreads];
  __device__ void add(int u, int h, double x) const { sums[2 * u + h][threadIdx.x].add(x); }
};

/// R and its squares for a lane's part of a tile of Z.
template <int kUnits, class T>
__device__ void residual_tile(const ResidualArguments<T>& m, Index rows, Index first, int lane,
                              const double (&sum)[kUnits][4], LaneSums<kUnits> squares) {
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
    const int j = 8 * u + lane % 4 * 2;
    if (j >= m.cols) continue;
    const double theta[2] = {m.theta[j], m.theta[j + 1]};
#pragma unroll
    for (int high = 0; high < 2; ++high) {
      const Index row = first + lane / 4 + 8 * high;
      if (row >= rows) continue;
      const Pair<T> y = load_pair<Access::paired>(m.Y + row * m.Y_ld, j, m.cols);
      const Pair<T> z{static_cast<T>(sum[u][2 * high]), static_cast<T>(sum[u][2 * high + 1])};
      const Pair<T> r{
          static_cast<T>(static_cast<double>(z.first) - static_cast<double>(y.first) * theta[0]),
          static_cast<T>(static_cast<double>(z.second) - static_cast<double>(y.second) * theta[1])};
      store_pair<Access::paired>(m.R + row * m.R_ld, j, m.cols, r);
      squares.add(u, 0, static_cast<double>(r.first));
      squares.add(u, 1, static_cast<double>(r.second));
    }
  }
}

/// The sum of squares of column c over the threads of a block, in a fixed order.
template <int kUnits>
__device__ SquareSum column_total(LaneSums<kUnits> squares, int c) {
  SquareSum total{};
  const int k = c / 8 * 2 + c % 2;
  for (int thread = c % 8 / 2; thread < kThreads; thread += 4) total.add(squares.sums[k][thread]);
  return total;
}

/// Z = X C in the notation of `MultiplyArguments`, where Z is its Y, and R. partials[block·cols +
/// c] = the sum of squares of column c of R over the rows of a thread block.
template <int kUnits, class T>
__global__ void __launch_bounds__(kThreads, 2)
    multiply_residual_kernel(MultiplyArguments<T> m, ResidualArguments<T> residual,
                             SquareSum* partials) {
  extern __shared__ double staged[];
  const int steps = ceil_div(m.a, kStep);
  const LaneSums<kUnits> squares{
      reinterpret_cast<SquareSum(*)[kThreads]>(staged + steps * kUnits * 2 * kWarp)};
  for (int c = 0; c < 2 * kUnits; ++c) squares.sums[c][threadIdx.x] = SquareSum{};
  stage_coefficients<kUnits, Access::paired>(m, steps, staged);
  __syncthreads();
  constexpr int kWarps = kThreads / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index warp = Index{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  for (Index first = warp * kTileRows; first < m.rows;
       first += Index{gridDim.x} * kWarps * kTileRows) {
    double sum[kUnits][4] = {};
    add_tile<kUnits, Access::paired>(m, first, steps, lane, staged, sum);
    store_tile<kUnits, Access::paired>(m, first, lane, sum);
    residual_tile<kUnits>(residual, m.rows, first, lane, sum, squares);
  }
  __syncthreads();
  for (int c = static_cast<int>(threadIdx.x); c < residual.cols; c += kThreads) {
    partials[Index{blockIdx.x} * residual.cols + c] = column_total<kUnits>(squares, c);
  }
}

template <int kUnits, class T>
void launch_multiply_residual(CudaContext& context, const MultiplyArguments<T>& m,
                              const ResidualArguments<T>& residual,
                              SmallView<double, DeviceSpace> norms) {
  const auto kernel = multiply_residual_kernel<kUnits, T>;
  const std::size_t shared = staged_bytes(m.a, kUnits) + 2 * kUnits * kThreads * sizeof(SquareSum);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  const Index blocks = std::min(ceil_div<Index>(m.rows, kThreads / kWarp * kTileRows),
                                Index{2} * context.device().multiprocessors);
  auto* partials =
      static_cast<SquareSum*>(context.scratch(partials_bytes<SquareSum>(blocks, residual.cols)));
  kernel<<<static_cast<unsigned>(blocks), kThreads, shared, context.stream()>>>(m, residual,
                                                                                partials);
  check_launch();
  launch_results(context, blocks, residual.cols, partials, norms);
}

/// The launcher for 8·`units` columns of Z, null where there is none.
template <class T>
auto launcher(Index units) -> decltype(&launch_multiply_residual<1, T>) {
  switch (units) {
    case 1:
      return launch_multiply_residual<1, T>;
    case 2:
      return launch_multiply_residual<2, T>;
    case 3:
      return launch_multiply_residual<3, T>;
    case 4:
      return launch_multiply_residual<4, T>;
    case 5:
      return launch_multiply_residual<5, T>;
    case kMaxUnits:
      return launch_multiply_residual<kMaxUnits, T>;
    default:
      return nullptr;
  }
}

/// Whether one pass can do it: widths and places are even, and the coefficients fit in shared
/// memory beside the sums.
template <class T>
bool fits_one_pass(const CudaContext& context, const MultiplyArguments<T>& m,
                   const ResidualArguments<T>& residual) {
  const Index units = ceil_div(m.b, 8);
  const auto is_even = [](const T* data, Index ld) {
    return ld % 2 == 0 && reinterpret_cast<std::uintptr_t>(data) % sizeof(Pair<T>) == 0;
  };
  return units <= kMaxUnits && m.rows > 0 && allows_pairs(m) && residual.cols % 2 == 0 &&
         is_even(residual.Y, residual.Y_ld) && is_even(residual.R, residual.R_ld) &&
         2 * (staged_bytes(m.a, units) +
              2 * static_cast<std::size_t>(units) * kThreads * sizeof(SquareSum)) <=
             context.device().shared_bytes_per_block;
}

}  // namespace

template <Scalar T>
void multiply_with_residual(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                            ConstSmallView<double, DeviceSpace> C, BlockView<T, DeviceSpace> Z,
                            ConstBlockView<T, DeviceSpace> Y,
                            ConstSmallView<double, DeviceSpace> theta, BlockView<T, DeviceSpace> R,
                            SmallView<double, DeviceSpace> norms) {
  require_multiply_shapes(X, C, Z);
  const ConstBlockView<T, DeviceSpace> Z1 = Z.columns(0, R.cols());
  require_same_shape("multiply_with_residual", Z1, R);
  require_same_shape("multiply_with_residual", Y, R);
  require_one_per_column("multiply_with_residual", theta, R.cols());
  require_one_per_column("multiply_with_residual", norms, R.cols());
  const MultiplyArguments<T> m{X.rows(),
                               static_cast<int>(X.cols()),
                               static_cast<int>(Z.cols()),
                               1,
                               X.data(),
                               X.ld(),
                               C.data,
                               C.ld,
                               0,
                               Z.data(),
                               Z.ld(),
                               Z.data(),
                               Z.ld()};
  const ResidualArguments<T> residuals{
      static_cast<int>(R.cols()), Y.data(), Y.ld(), theta.data, R.data(), R.ld()};
  if (R.empty() || !fits_one_pass(context, m, residuals)) {
    multiply<T>(context, 1, X, C, 0, Z);
    return residual<T>(context, Z1, Y, theta, R, norms);
  }
  launcher<T>(ceil_div(m.b, 8))(context, m, residuals, norms);
  context.profile().count(bytes(X) + bytes<T, DeviceSpace>(Z) + 2 * bytes(Y),
                          2 * entries(X) * static_cast<double>(Z.cols()) + 4 * entries(Y));
}

#define HEDDLE_INSTANTIATE(T)                                                                     \
  template void multiply_with_residual(CudaContext&, ConstBlockView<T, DeviceSpace>,              \
                                       ConstSmallView<double, DeviceSpace>,                       \
                                       BlockView<T, DeviceSpace>, ConstBlockView<T, DeviceSpace>, \
                                       ConstSmallView<double, DeviceSpace>,                       \
                                       BlockView<T, DeviceSpace>, SmallView<double, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
