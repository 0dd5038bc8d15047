#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/column_major.hpp>

namespace heddle {
namespace {

constexpr int kThreads = 256;

/// A thread block transposes kRows×kColumns entries of the target through shared memory, so that
/// neighbouring threads read and write neighbouring entries.
template <int kRows, int kColumns, class T, class From>
__global__ __launch_bounds__(kThreads) void transpose_block_kernel(const From* source,
                                                                   Index source_ld, T beta,
                                                                   T* target, Index target_ld,
                                                                   Index rows, Index columns,
                                                                   Index row_tiles) {
  __shared__ T tile[kRows][kColumns + 1];
  detail::cuda::wait_for_previous_kernel();
  const Index row = static_cast<Index>(blockIdx.x) % row_tiles * kRows;
  const Index column = static_cast<Index>(blockIdx.x) / row_tiles * kColumns;
#pragma unroll
  for (int e = static_cast<int>(threadIdx.x); e < kRows * kColumns; e += kThreads) {
    const int i = e % kRows;
    const int j = e / kRows;
    if (row + i < rows && column + j < columns) {
      tile[i][j] = static_cast<T>(source[(column + j) * source_ld + row + i]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int e = static_cast<int>(threadIdx.x); e < kRows * kColumns; e += kThreads) {
    const int i = e / kColumns;
    const int j = e % kColumns;
    if (row + i < rows && column + j < columns) {
      T& entry = target[(row + i) * target_ld + column + j];
      entry = beta == T{0} ? tile[i][j] : tile[i][j] + beta * entry;
    }
  }
}

template <int kRows, int kColumns, class T, class From>
void launch(CudaContext& context, ConstBlockView<From, DeviceSpace> source, T beta,
            BlockView<T, DeviceSpace> target) {
  const Index row_tiles = (target.rows() + kRows - 1) / kRows;
  const Index column_tiles = (target.cols() + kColumns - 1) / kColumns;
  detail::cuda::launch_dependent(transpose_block_kernel<kRows, kColumns, T, From>,
                                 {static_cast<unsigned>(row_tiles * column_tiles), kThreads},
                                 context.stream(), source.data(), source.ld(), beta, target.data(),
                                 target.ld(), target.rows(), target.cols(), row_tiles);
}

}  // namespace

template <Scalar T, Scalar From>
void transpose_block(CudaContext& context, ConstBlockView<From, DeviceSpace> source, T beta,
                     BlockView<T, DeviceSpace> target) {
  constexpr Index kShort = 8;
  if (target.empty()) return;
  if (target.cols() <= kShort) return launch<128, 8>(context, source, beta, target);
  if (target.rows() <= kShort) return launch<8, 128>(context, source, beta, target);
  if (target.cols() < target.rows()) return launch<64, 16>(context, source, beta, target);
  launch<16, 64>(context, source, beta, target);
}

#define HEDDLE_INSTANTIATE_FROM(T, From)                                            \
  template void transpose_block(CudaContext&, ConstBlockView<From, DeviceSpace>, T, \
                                BlockView<T, DeviceSpace>);
#define HEDDLE_INSTANTIATE(T)       \
  HEDDLE_INSTANTIATE_FROM(T, float) \
  HEDDLE_INSTANTIATE_FROM(T, double)
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FROM

}  // namespace heddle
