#include <cuda_pipeline.h>

#include <cstdint>
#include <heddle/linalg/blocks/gram_tiles.cuh>
#include <heddle/linalg/blocks/staged_gram.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

constexpr int kStages = 3;       ///< pieces of rows in shared memory: one in use, two on their way
constexpr int kVector = 2;       ///< doubles that a thread copies at once
constexpr int kMaxSegments = 3;  ///< X, Y and Z
constexpr int kStageBytes = 24576;  ///< a piece has more only where the groups need more rows
constexpr int kBlocksPerMultiprocessor = 2;
constexpr Index kMinSlabRows = 512;

/// Columns of a block that are copied to shared memory.
struct Segment {
  const double* data;
  Index ld;
  int cols;
};

/// The operands of Xᵀ[Y Z]. Rows of all segments are adjacent in shared memory, X first.
struct StagedOperands {
  Segment segments[kMaxSegments];
  int cols = 0;   ///< of all segments
  int pitch = 0;  ///< of a row in shared memory
  int rows = 0;   ///< of a piece
  int a = 0;      ///< columns of X
  int split = 0;  ///< columns of Y
  int b = 0;      ///< columns of Y and Z
  int y_at = 0;   ///< column of Y in shared memory
  int z_at = 0;   ///< column of Z in shared memory

  /// The place of column j of [Y Z].
  __device__ int place(int j) const { return j < split ? y_at + j : z_at + j - split; }
};

/// Copies pieces of rows. A thread copies the same two columns of every row that it has.
class PieceCopy {
 public:
  __device__ explicit PieceCopy(const StagedOperands& m, Index first, double* stages)
      : m_(m), stages_(stages) {
    const int chunks = m.cols / kVector;
    const int thread = static_cast<int>(threadIdx.x);
    step_ = kThreads / chunks;
    row_ = thread / chunks;
    column_ = thread % chunks * kVector;
    if (row_ >= step_) row_ = m.rows;  // has none
    int begin = 0;
    int k = 0;
    while (column_ - begin >= m.segments[k].cols) begin += m.segments[k++].cols;
    ld_ = m.segments[k].ld;
    from_ = m.segments[k].data + first * ld_ + column_ - begin;
  }

  /// Queues the copy of piece `index` of `rows` rows altogether. Rows beyond the last are 0.
  __device__ void queue(Index index, Index rows) const {
    double* to = stages_ + static_cast<int>(index % kStages) * m_.rows * m_.pitch + column_;
    const Index first = index * m_.rows;
    for (int r = row_; r < m_.rows; r += step_) {
      const bool inside = first + r < rows;
      constexpr int kBytes = kVector * sizeof(double);
      __pipeline_memcpy_async(to + r * m_.pitch, from_ + (inside ? (first + r) * ld_ : 0), kBytes,
                              inside ? 0 : kBytes);
    }
  }

 private:
  const StagedOperands& m_;
  double* stages_;
  const double* from_;
  Index ld_;
  int row_, column_, step_;
};

/// sum += the products of a group's rows of a piece, which are every groups-th 8 of them. `x_at`
/// and `y_at`: the lane's columns of X and of [Y Z], in its row of four.
template <class Tile>
__device__ void add_piece(const StagedOperands& m, const double* stage, int group, int groups,
                          const int (&x_at)[Tile::kRowUnits], const int (&y_at)[Tile::kColUnits],
                          double (&sum)[Tile::kRowUnits / 2][Tile::kColUnits][4]) {
#pragma unroll 1
  for (int r = 8 * group; r < m.rows; r += 8 * groups) {
    const double* low = stage + r * m.pitch;
    const double* high = low + 4 * m.pitch;
    double y[Tile::kColUnits][2];
#pragma unroll
    for (int u = 0; u < Tile::kColUnits; ++u) {
      y[u][0] = low[y_at[u]];
      y[u][1] = high[y_at[u]];
    }
#pragma unroll
    for (int k = 0; k < Tile::kRowUnits / 2; ++k) {
      const double x[4] = {low[x_at[2 * k]], low[x_at[2 * k + 1]], high[x_at[2 * k]],
                           high[x_at[2 * k + 1]]};
#pragma unroll
      for (int u = 0; u < Tile::kColUnits; ++u) multiply_add_16x8x8(sum[k][u], x, y[u]);
    }
  }
}

/// partials[slab][tile] = the tile of Xᵀ[Y Z] over the slab's rows. Warps are distributed as
/// `GramPlan` says.
template <class Tile>
__global__ void __launch_bounds__(kThreads, kBlocksPerMultiprocessor)
    staged_gram_kernel(DeviceSlabs slabs, GramPlan plan, const __grid_constant__ StagedOperands m,
                       double* partials) {
  extern __shared__ double totals[];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int tile = warp % plan.tiles;
  const int group = warp / plan.tiles;
  const bool present = group < plan.groups;
  const int t = lane % 4;
  const int g = lane / 4;
  int x_at[Tile::kRowUnits];
  int y_at[Tile::kColUnits];
  int row;
  int col;
  plan.locate(tile, row, col);
#pragma unroll
  for (int u = 0; u < Tile::kRowUnits; ++u) {
    x_at[u] = min(row * Tile::kHeight + 8 * u + g, m.a - 1) + t * m.pitch;
  }
#pragma unroll
  for (int u = 0; u < Tile::kColUnits; ++u) {
    y_at[u] = m.place(min(col * Tile::kWidth + 8 * u + g, m.b - 1)) + t * m.pitch;
  }
  double sum[Tile::kRowUnits / 2][Tile::kColUnits][4] = {};
  const Index first = Index{blockIdx.x} * slabs.height;
  const Index rows = min(slabs.height, slabs.rows - first);
  const Index pieces = ceil_div<Index>(rows, m.rows);
  const PieceCopy copy(m, first, totals);
  for (int ahead = 0; ahead + 1 < kStages; ++ahead) {
    if (ahead < pieces) copy.queue(ahead, rows);
    __pipeline_commit();
  }
#pragma unroll 1
  for (Index piece = 0; piece < pieces; ++piece) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();  // the piece is there, and the one before is no longer in use
    if (piece + kStages - 1 < pieces) copy.queue(piece + kStages - 1, rows);
    __pipeline_commit();
    if (!present) continue;
    const double* stage = totals + static_cast<int>(piece % kStages) * m.rows * m.pitch;
    add_piece<Tile>(m, stage, group, plan.groups, x_at, y_at, sum);
  }
  __pipeline_wait_prior(0);
  __syncthreads();
  store_total<Tile>(plan, tile, group, lane, present, &sum[0][0][0],
                    partials + (Index{blockIdx.x} * plan.tiles + tile) * Tile::kEntries);
}

/// Adds a block to the segments, unless it consists of columns of X. Returns its first column in
/// shared memory.
int add_segment(StagedOperands& m, int& count, ConstBlockView<double, DeviceSpace> block) {
  const Segment& X = m.segments[0];
  const auto place = [](const double* data) { return reinterpret_cast<std::intptr_t>(data); };
  const std::intptr_t offset =
      (place(block.data()) - place(X.data)) / std::intptr_t{sizeof(double)};
  if (count > 0 && offset >= 0 && offset + block.cols() <= X.cols && block.ld() == X.ld) {
    return static_cast<int>(offset);
  }
  const int begin = m.cols;
  m.segments[count++] = {block.data(), block.ld(), static_cast<int>(block.cols())};
  m.cols += static_cast<int>(block.cols());
  return begin;
}

/// Whether rows of the block can be copied 16 bytes at a time.
bool is_aligned(ConstBlockView<double, DeviceSpace> block) {
  return block.cols() % kVector == 0 && block.ld() % kVector == 0 &&
         reinterpret_cast<std::uintptr_t>(block.data()) % (kVector * sizeof(double)) == 0;
}

/// The pitch with which the four rows that a warp reads together lie in different banks.
int pitch_of(int cols) { return (cols + 11) / 16 * 16 + 4; }

template <class Tile>
GramPlan plan_of(const StagedOperands& m) {
  return {m.a, m.b, Tile::kHeight, Tile::kWidth, false};
}

/// The entries of all tiles, with those outside of the result, 0 if there are more tiles than
/// warps.
template <class Tile>
Index padded_entries(const StagedOperands& m) {
  const int tiles = plan_of<Tile>(m).tile_count();
  return tiles > GramPlan::kMaxWarps ? 0 : Index{tiles} * Tile::kEntries;
}

template <class Tile>
void launch_staged(CudaContext& context, StagedOperands m, Index rows, const GramResult& result) {
  const GramPlan plan = plan_of<Tile>(m);
  const int least = 8 * plan.groups;
  const int row_bytes = m.pitch * static_cast<int>(sizeof(double));
  m.rows = least * std::max(1, kStageBytes / (least * row_bytes));
  const DeviceSlabs slabs =
      device_slabs(rows, kBlocksPerMultiprocessor * context.device().multiprocessors, kMinSlabRows);
  const auto slab_count = static_cast<unsigned>(slabs.count());
  auto* partials = static_cast<double*>(context.scratch(
      sizeof(double) * slab_count * static_cast<unsigned>(plan.tiles) * Tile::kEntries));
  const int shared = std::max(kStages * m.rows * row_bytes,
                              plan.tiles * Tile::kEntries * static_cast<int>(sizeof(double)));
  check(cudaFuncSetAttribute(staged_gram_kernel<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared));
  staged_gram_kernel<Tile>
      <<<slab_count, kThreads, static_cast<unsigned>(shared), context.stream()>>>(slabs, plan, m,
                                                                                  partials);
  check_launch();
  launch_sum_partials<Tile>(context, slab_count, plan, partials, result);
}

}  // namespace

template <RealScalar T>
bool staged_gram(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 ConstBlockView<T, DeviceSpace> Y, SmallView<double, DeviceSpace> G,
                 ConstBlockView<T, DeviceSpace> Z, SmallView<double, DeviceSpace> H) {
  if constexpr (std::same_as<T, double>) {
    using Small = GramTile<2, 2, 2>;
    using Medium = GramTile<4, 3, 2>;
    using Large = GramTile<4, 4, 2>;
    if (X.rows() == 0 || X.cols() == 0 || same_block(X, Y)) return false;
    if (!is_aligned(X) || !is_aligned(Y) || !is_aligned(Z)) return false;
    StagedOperands m;
    int count = 0;
    m.a = static_cast<int>(X.cols());
    m.split = static_cast<int>(Y.cols());
    m.b = m.split + static_cast<int>(Z.cols());
    if (m.b == 0) return false;
    add_segment(m, count, X);
    m.y_at = add_segment(m, count, Y);
    m.z_at = add_segment(m, count, Z);
    m.pitch = pitch_of(m.cols);
    if (m.cols / kVector > kThreads) return false;
    const GramResult result{m.a, m.b, m.split, false, G.data, G.ld, H.data, H.ld};
    const Index small = padded_entries<Small>(m);
    const Index medium = padded_entries<Medium>(m);
    const Index large = padded_entries<Large>(m);
    const auto at_most = [](Index x, Index y) { return x > 0 && (y == 0 || x <= y); };
    if (at_most(small, medium) && at_most(small, large)) {
      launch_staged<Small>(context, m, X.rows(), result);
    } else if (at_most(medium, large)) {
      launch_staged<Medium>(context, m, X.rows(), result);
    } else if (large > 0) {
      launch_staged<Large>(context, m, X.rows(), result);
    } else {
      return false;
    }
    return true;
  } else {
    return false;
  }
}

#define HEDDLE_INSTANTIATE(T)                                                               \
  template bool staged_gram(CudaContext&, ConstBlockView<T, DeviceSpace>,                   \
                            ConstBlockView<T, DeviceSpace>, SmallView<double, DeviceSpace>, \
                            ConstBlockView<T, DeviceSpace>, SmallView<double, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
