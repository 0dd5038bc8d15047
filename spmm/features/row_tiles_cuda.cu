#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spmm/features/row_tiles_cuda.hpp>

namespace heddle::detail::cuda {
namespace {

/// Thread blocks per tile: one for this many of its rows.
constexpr Index kRowsPerBlock = 32;

/// Counts in tile blockIdx.y. A bit of `bits` says whether a column has been met.
__global__ __launch_bounds__(kThreads) void count_tiles_kernel(RowTiles tiles,
                                                               const std::int64_t* row_offsets,
                                                               const std::int32_t* columns,
                                                               Index rows, Index words,
                                                               unsigned* bits, TileCount* total) {
  const Index first_row = tiles.first_row(blockIdx.y, gridDim.y, rows);
  const Index begin = row_offsets[first_row];
  const Index end =
      min(row_offsets[min(first_row + tiles.rows, rows)], begin + RowTiles::kMostEntries);
  unsigned* const own_bits = bits + blockIdx.y * words;
  TileCount own;
  for (Index k = begin + blockIdx.x * kThreads + threadIdx.x; k < end;
       k += gridDim.x * Index{kThreads}) {
    const std::int32_t column = columns[k];
    const unsigned bit = 1u << (column % 32);
    ++own.entries;
    if ((atomicOr(own_bits + column / 32, bit) & bit) == 0) ++own.distinct;
    if (k > begin && columns[k - 1] + 1 == column) ++own.following;
  }
  __syncwarp();
  add_of_warp(own.entries, &total->entries);
  add_of_warp(own.distinct, &total->distinct);
  add_of_warp(own.following, &total->following);
}

}  // namespace

template <class T>
void count_tiles(CudaContext& context, const CsrView<T, DeviceSpace>& A, const RowTiles& tiles,
                 TileCount* total) {
  if (A.nnz == 0) return;
  const Index count = tiles.count(A.rows, A.cols);
  const Index words = A.cols / 32 + 1;
  Buffer<unsigned, DeviceSpace> bits(context, static_cast<std::size_t>(count * words));
  check(cudaMemsetAsync(bits.data(), 0, bits.size() * sizeof(unsigned), context.stream()));
  const dim3 grid(static_cast<unsigned>(tiles.rows / kRowsPerBlock), static_cast<unsigned>(count));
  count_tiles_kernel<<<grid, kThreads, 0, context.stream()>>>(tiles, A.row_offsets, A.columns,
                                                              A.rows, words, bits.data(), total);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                              \
  template void count_tiles(CudaContext&, const CsrView<T, DeviceSpace>&, const RowTiles&, \
                            TileCount*);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
