#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/features/row_tiles_cuda.hpp>
#include <vector>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kBlocksPerTile = 32;

/// What the threads of a tile count. Sums of integers, so that their order does not matter.
struct DeviceCount {
  unsigned long long entries;
  unsigned long long distinct;
  unsigned long long following;
};

/// counts[tile] of tile blockIdx.y. A bit of `bits` says whether a column has been met.
__global__ __launch_bounds__(kThreads) void count_tiles_kernel(
    RowTiles tiles, const std::int64_t* row_offsets, const std::int32_t* columns, Index rows,
    Index words, unsigned* bits, DeviceCount* counts) {
  const Index first_row = tiles.first_row(blockIdx.y, gridDim.y, rows);
  const Index begin = row_offsets[first_row];
  const Index end =
      min(row_offsets[min(first_row + tiles.rows, rows)], begin + RowTiles::kMostEntries);
  unsigned* const own_bits = bits + blockIdx.y * words;
  unsigned distinct = 0;
  unsigned following = 0;
  for (Index k = begin + blockIdx.x * kThreads + threadIdx.x; k < end;
       k += gridDim.x * Index{kThreads}) {
    const std::int32_t column = columns[k];
    const unsigned bit = 1u << (column % 32);
    if ((atomicOr(own_bits + column / 32, bit) & bit) == 0) ++distinct;
    if (k > begin && columns[k - 1] + 1 == column) ++following;
  }
  DeviceCount& count = counts[blockIdx.y];
  if (distinct > 0) atomicAdd(&count.distinct, distinct);
  if (following > 0) atomicAdd(&count.following, following);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    count.entries = static_cast<unsigned long long>(end - begin);
  }
}

template <class T>
TileCount count_tiles(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                      const RowTiles& tiles) {
  const Index count = tiles.count(A.rows, A.cols);
  const Index words = A.cols / 32 + 1;
  Buffer<unsigned, DeviceSpace> bits(context, static_cast<std::size_t>(count * words));
  Buffer<DeviceCount, DeviceSpace> counts(context, static_cast<std::size_t>(count));
  check(cudaMemsetAsync(bits.data(), 0, bits.size() * sizeof(unsigned), context.stream()));
  check(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(DeviceCount), context.stream()));
  const dim3 grid(kBlocksPerTile, static_cast<unsigned>(count));
  count_tiles_kernel<<<grid, kThreads, 0, context.stream()>>>(
      tiles, A.row_offsets, A.columns, A.rows, words, bits.data(), counts.data());
  check_launch();
  std::vector<DeviceCount> found(counts.size());
  context.copy_to_host(found.data(), counts.data(), found.size() * sizeof(DeviceCount));
  TileCount total;
  for (const DeviceCount& tile : found) {
    total.entries += static_cast<Index>(tile.entries);
    total.distinct += static_cast<Index>(tile.distinct);
    total.following += static_cast<Index>(tile.following);
  }
  return total;
}

}  // namespace

template <class T>
void set_tile_reuse(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                    MatrixFeatures& features) {
  if (A.nnz == 0) return;
  features.reuse_128 = count_tiles(context, A, kLowTiles).reuse();
  features.reuse_2048 = count_tiles(context, A, kMiddleTiles).reuse();
  const TileCount high = count_tiles(context, A, kHighTiles);
  features.reuse_32768 = high.reuse();
  features.column_run = high.run();
}

#define HEDDLE_INSTANTIATE(T) \
  template void set_tile_reuse(CudaContext&, const CsrView<T, DeviceSpace>&, MatrixFeatures&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
