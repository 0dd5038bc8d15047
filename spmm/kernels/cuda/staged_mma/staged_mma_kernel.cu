#include <cuda_pipeline.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/piece_walk.cuh>
#include <heddle/spmm/kernels/cuda/staged/shared_memory.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/stage_ring.cuh>
#include <heddle/spmm/kernels/cuda/staged_mma/staged_mma_kernel.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/tile_pieces.hpp>
#include <heddle/spmm/kernels/cuda/tensor_tiles.cuh>

namespace heddle::detail::cuda {
namespace {

/// A version of the kernel: its number (`stage_pitch`), the columns of a load, the loads of a row,
/// how many warps multiply (consumers) and how many copy (producers), and the thread blocks that a
/// multiprocessor is to hold.
template <class TOf, int kVersionOf, int kWidthOf, int kLoadsOf, int kConsumersOf, int kProducersOf,
          int kBlocksOf>
struct StagedMmaConfig {
  using T = TOf;
  static constexpr int kVersion = kVersionOf;
  static constexpr int kWidth = kWidthOf;  // columns of B in one load
  static constexpr int kLoads = kLoadsOf;  // loads of a lane from one row of B
  static constexpr int kConsumers = kConsumersOf;
  static constexpr int kProducers = kProducersOf;
  static constexpr int kBlocks = kBlocksOf;
  static constexpr int kPanels = kBlockPanels / kConsumers;
  static constexpr int kThreads = (kConsumers + kProducers) * kWarpSize;
  static constexpr int kStages = 2;
  static constexpr int kUnroll =
      kBlocks == 1 ? 4 : 2;                        // tiles in flight; more take too many registers
  static constexpr int kLoadColumns = 8 * kWidth;  // of a warp's load
  static constexpr int kStripe = kLoadColumns * kLoads;
  static constexpr int kLoadBytes = kWidth * static_cast<int>(sizeof(T));
  static constexpr bool kWholeVectors = kLoadBytes == kVectorBytes;
  static_assert(kWholeVectors || 2 * kLoadBytes == kVectorBytes);
  static constexpr int kPitch = stage_pitch(kVersion);
  static_assert(kPitch ==
                kStripe * static_cast<int>(sizeof(T)) + (kWholeVectors ? 1 : 2) * kVectorBytes);
  // The sums of a lane that are neighbours in a row of C and are stored together, 16 bytes.
  static constexpr int kStored = kVectorWidth<T>;
};

/// The load of B's columns that belongs to column j of the tensor cores' operand. Where a lane
/// loads 16 bytes, those of columns 0, 2, 4, 6 are neighbours, so that four lanes store 64
/// neighbouring bytes of C.
template <class Config>
__device__ constexpr int load_of_column(int j) {
  return Config::kWholeVectors ? j / 2 + 4 * (j % 2) : j;
}

/// A lane's part of a panel's product: values[l][v][2h + e] belongs to row 8h + lane / 4 and
/// column j = 2·(lane % 4) + e of the operand of the v-th value of load l.
template <class Config>
struct TallSums {
  double values[Config::kLoads][Config::kWidth][4] = {};
};

/// The addresses and sizes by which a producer copies a piece. A lane has the columns of rows lane,
/// lane + 32, … of B.
struct PieceSource {
  static constexpr int kColumns = kTilePieceColumns / kWarpSize;

  int rows = -1;  ///< of B, −1 behind the last piece
  int stripe_column = 0;
  const uint4* part = nullptr;
  int part_bytes = 0;
  std::int32_t columns[kColumns] = {};

  __device__ PieceSource(const QueuedPiece& queued, const TilePiecesView& A) {
    if (queued.index < 0) return;
    rows = queued.piece.columns;
    stripe_column = static_cast<int>(queued.stripe_column);
    const Index begin = A.part_begin[queued.index];
    part = A.parts + begin;
    part_bytes = static_cast<int>(A.part_begin[queued.index + 1] - begin) * kVectorBytes;
    const std::int32_t* const list = A.columns + queued.piece.first_column;
#pragma unroll
    for (int k = 0; k < kColumns; ++k) {
      const int r = static_cast<int>(threadIdx.x) % kWarpSize + k * kWarpSize;
      if (r < rows) columns[k] = __ldg(list + r);
    }
  }
};

/// Starts the copies of a piece's rows of B, `kBytes` at a time, a producer warp's share of them.
/// Without kWhole, the stripe's last column ends within kBytes, and what is behind it becomes zero.
/// The instruction for this is slower (one H200: up to 1.8 times the time of the kernel). What lies
/// behind a multiple of kBytes remains unset.
template <class Config, int kBytes, bool kWhole, class Product>
__device__ void copy_rows_of_B(char* to, const Product& p, const PieceSource& source,
                               int producer) {
  using T = typename Config::T;
  constexpr int kChunks = Config::kStripe * static_cast<int>(sizeof(T)) / kBytes;
  constexpr int kLanes = kChunks < kWarpSize ? kChunks : kWarpSize;
  constexpr int kRows = kWarpSize / kLanes;  // at once
  constexpr int kRound = kRows * Config::kProducers;
  static_assert(kWarpSize % kRound == 0);
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int first_row = producer * kRows + lane / kLanes;
  const Index left = (p.N - source.stripe_column) * Index{sizeof(T)};
#pragma unroll
  for (int c = 0; c < kChunks; c += kLanes) {
    const int offset = (c + lane % kLanes) * kBytes;
    const char* const from = reinterpret_cast<const char*>(p.B + source.stripe_column) + offset;
    char* const own = to + first_row * Config::kPitch + offset;
    const int rows = offset < left ? source.rows : 0;
    const int absent = kWhole ? 0 : static_cast<int>(max(Index{0}, offset + kBytes - left));
#pragma unroll
    for (int k = 0; k < PieceSource::kColumns; ++k) {
      if (k * kWarpSize >= source.rows) break;
#pragma unroll
      for (int r = 0; r < kWarpSize; r += kRound) {
        const auto row =
            static_cast<std::uint32_t>(__shfl_sync(kFullWarp, source.columns[k], first_row + r));
        if (first_row + k * kWarpSize + r >= rows) continue;
        char* const row_to = own + (k * kWarpSize + r) * Config::kPitch;
        const char* const row_from = from + std::uint64_t{row} * b_pitch(p);
        if constexpr (kWhole) {
          __pipeline_memcpy_async(row_to, row_from, kBytes);
        } else {
          __pipeline_memcpy_async(row_to, row_from, kBytes, absent);
        }
      }
    }
  }
}

/// Starts the copies of a piece's rows of B, by 16 bytes with `aligned`, else by single values.
/// With `aligned`, rows of B are aligned to 16 bytes.
template <class Config, class Product>
__device__ void copy_stripe(char* to, const Product& p, const PieceSource& source, int producer,
                            bool aligned) {
  using T = typename Config::T;
  if (!aligned) {
    copy_rows_of_B<Config, sizeof(T), true>(to, p, source, producer);
  } else if (p.N - source.stripe_column >= Config::kStripe || p.N % kVectorWidth<T> == 0) {
    copy_rows_of_B<Config, kVectorBytes, true>(to, p, source, producer);
  } else {
    copy_rows_of_B<Config, kVectorBytes, false>(to, p, source, producer);
  }
}

template <class Config>
using Ring =
    StageRing<Config::kStages, Config::kProducers * kWarpSize, Config::kConsumers * kWarpSize>;

/// The work of a producer warp. What it needs of the next piece is loaded while it waits for a
/// stage.
template <class Config, class Product>
__device__ void produce(char* stages, Ring<Config> ring, const Product& p, const TilePiecesView& A,
                        const StripeRange& stripes, bool aligned) {
  const int thread = static_cast<int>(threadIdx.x) - Config::kConsumers * kWarpSize;
  PieceWalk<TilePiecesView> walk(A, stripes);
  PieceSource source(walk.take(), A);
  wait_for_previous_kernel();
  while (source.rows >= 0) {
    const PieceSource next(walk.take(), A);
    ring.wait_until_empty();
    char* const stage = stages + ring.stage() * A.stage_bytes[Config::kVersion];
    // A stage holds A's part of the piece, then the rows of B that it needs.
    ring.copy_whole(stage, source.part, source.part_bytes, thread);
    copy_stripe<Config>(stage + source.part_bytes, p, source, thread / kWarpSize, aligned);
    ring.arrive_when_copied();
    ring.advance();
    source = next;
  }
  for (int s = 0; s < Config::kStages; ++s, ring.advance()) ring.wait_until_empty();
}

/// Adds the first `kActive` loads' columns of a panel's tiles first … last − 1 to a warp's sums.
/// `B` points at the lane's columns of the first row in shared memory.
template <int kActive, class Config, class V>
__device__ void add_tiles(const char* B, const TallTile* tiles, const V* values, int first,
                          int last, TallSums<Config>& sums) {
  using T = typename Config::T;
  using Vector = Lane<T, Config::kWidth>;
  constexpr int kUnroll = Config::kUnroll;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const unsigned before = (1u << lane) - 1;
#pragma unroll 1
  for (int t = first; t < last; t += kUnroll) {
    double a[kUnroll][2];
    int row[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      // One load of 16 bytes: present[0], present[1], value, places.
      uint4 tile = reinterpret_cast<const uint4*>(tiles)[min(t + u, last - 1)];
      if (t + u >= last) tile.x = tile.y = 0;
      const V* const own = values + tile.z;
      const bool upper = (tile.x >> lane & 1u) != 0;
      const bool lower = (tile.y >> lane & 1u) != 0;
      a[u][0] = upper ? static_cast<double>(own[__popc(tile.x & before)]) : 0.0;
      a[u][1] = lower ? static_cast<double>(own[__popc(tile.x) + __popc(tile.y & before)]) : 0.0;
      row[u] = static_cast<int>(tile.w >> (8 * (lane % kTallColumns)) & 0xffu) * Config::kPitch;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int l = 0; l < kActive; ++l) {
        const Vector b = *reinterpret_cast<const Vector*>(B + row[u] + l * 8 * Config::kLoadBytes);
#pragma unroll
        for (int v = 0; v < Config::kWidth; ++v) {
          multiply_tall_tile(a[u], static_cast<double>(b[v]), sums.values[l][v]);
        }
      }
    }
  }
}

/// Ends 16 bytes of a row of C. With `aligned`, rows of all blocks are aligned to 16 bytes.
template <class Product, class T, int kWidth>
__device__ void finish_vector(const Product& p, Index row, Index column, bool aligned,
                              const Lane<T, kWidth>& sum) {
  if (aligned) return finish_columns(p, row, column, sum);
#pragma unroll
  for (int v = 0; v < kWidth; ++v) finish_columns(p, row, column + v, Lane<T, 1>{{sum[v]}});
}

/// Ends the entries of a panel of C in a warp's sums. `rows` are the lane's rows, `first` is the
/// first column of the stripe.
template <class Config, class Product>
__device__ void finish_panel(const Product& p, const std::int32_t (&rows)[2], Index first,
                             bool aligned, const TallSums<Config>& sums) {
  using T = typename Config::T;
  constexpr int kWidth = Config::kWidth;
  const int j = 2 * (static_cast<int>(threadIdx.x) % 4);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (rows[h] == kNoRow) continue;
#pragma unroll
    for (int l = 0; l < Config::kLoads; ++l) {
      const Index column = first + l * Config::kLoadColumns;
      constexpr int kVectors = 2 * kWidth / Config::kStored;
#pragma unroll
      for (int e = 0; e < kVectors; ++e) {
        Lane<T, Config::kStored> sum;
#pragma unroll
        for (int v = 0; v < Config::kStored; ++v) {
          sum[v] = static_cast<T>(sums.values[l][v % kWidth][2 * h + e + v / kWidth]);
        }
        finish_vector(p, rows[h], column + load_of_column<Config>(j + e) * kWidth, aligned, sum);
      }
    }
  }
}

/// The rows of a lane's sums in a row block.
template <class Config>
struct LaneRows {
  std::int32_t of_panel[Config::kPanels][2];

  __device__ LaneRows(const TilePiecesView& A, Index block) {
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int k = 0; k < 2 * Config::kPanels; ++k) {
      const int panel = k / 2 * Config::kConsumers + thread / kWarpSize;
      const int row = panel * kTallRows + k % 2 * 8 + thread % kWarpSize / 4;
      of_panel[k / 2][k % 2] = __ldg(A.rows + block * kTileBlockRows + row);
    }
  }
};

/// Adds a piece to a warp's sums. `loads` of the stripe are within the block.
template <class Config, class V>
__device__ void add_piece(const char* stage, int loads, TallSums<Config> (&sums)[Config::kPanels]) {
  constexpr int kHalf = (Config::kLoads + 1) / 2;
  const int thread = static_cast<int>(threadIdx.x);
  const auto* const head = reinterpret_cast<const PieceHead*>(stage);
  const auto* const tiles = reinterpret_cast<const TallTile*>(head + 1);
  const auto* const values = reinterpret_cast<const V*>(stage + head->values);
  const char* const B =
      stage + head->bytes +
      load_of_column<Config>(thread % kWarpSize / kTallColumns) * Config::kLoadBytes;
#pragma unroll
  for (int k = 0; k < Config::kPanels; ++k) {
    const int panel = k * Config::kConsumers + thread / kWarpSize;
    const int first = head->panel_tiles[panel];
    const int last = head->panel_tiles[panel + 1];
    if (loads > kHalf) {
      add_tiles<Config::kLoads>(B, tiles, values, first, last, sums[k]);
    } else {
      add_tiles<kHalf>(B, tiles, values, first, last, sums[k]);
    }
  }
}

/// The work of a consumer warp.
template <class Config, class V, class Product>
__device__ void consume(const char* stages, Ring<Config> ring, const Product& p,
                        const TilePiecesView& A, const StripeRange& stripes, bool aligned) {
  wait_for_previous_kernel();  // it may read C
  for (Index block = blockIdx.x; block < A.blocks; block += gridDim.x) {
    const LaneRows<Config> rows(A, block);
    for (int stripe = 0; stripe < stripes.count; ++stripe) {
      const Index column = stripes.first_column + Index{stripe} * stripes.columns;
      const auto loads = static_cast<int>((p.N - column - 1) / Config::kLoadColumns) + 1;
      TallSums<Config> sums[Config::kPanels];
      for (bool last = false; !last;) {
        ring.wait_until_full();
        const char* const stage = stages + ring.stage() * A.stage_bytes[Config::kVersion];
        add_piece<Config, V>(stage, loads, sums);
        last = reinterpret_cast<const PieceHead*>(stage)->last != 0;
        ring.release();
        ring.advance();
      }
#pragma unroll
      for (int k = 0; k < Config::kPanels; ++k) {
        finish_panel(p, rows.of_panel[k], column, aligned, sums[k]);
      }
    }
  }
}

/// A thread block multiplies row blocks t, t + gridDim.x, …, stripe after stripe, piece after
/// piece. Thread blocks of different blockIdx.y share the stripes.
template <class Config, class V, class Product>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void staged_mma_kernel(Product p, TilePiecesView A,
                                                                     int stripes, bool aligned) {
  using Barriers = typename Ring<Config>::Barriers;
  __shared__ Barriers barriers;
  extern __shared__ __align__(kVectorBytes) char stages[];
  if (threadIdx.x == 0) Ring<Config>::initialise(barriers);
  __syncthreads();
  const Ring<Config> ring(barriers);
  const int share = (stripes + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y);
  const int first = static_cast<int>(blockIdx.y) * share;
  const StripeRange own = {Index{first} * Config::kStripe, min(share, stripes - first),
                           Config::kStripe};
  if (threadIdx.x >= Config::kConsumers * kWarpSize) {
    produce<Config>(stages, ring, p, A, own, aligned);
  } else {
    consume<Config, V>(stages, ring, p, A, own, aligned);
  }
}

/// A version of the kernel for a matrix on a device.
template <class Config>
class StagedMmaLaunch {
 public:
  StagedMmaLaunch(CudaContext& context, const TilePiecesView& A) : context_(context), A_(A) {}

  /// Thread blocks that fit on a multiprocessor.
  int resident() const noexcept {
    const std::size_t needed = bytes() + kBarrierBytes + kReservedSharedBytes;
    return std::min(Config::kBlocks, static_cast<int>(shared_bytes(context_) / needed));
  }

  template <class V, class Product>
  void run(const Product& product) const {
    if (resident() == 0) {
      throw OutOfMemory(bytes(),
                        "two stages of the kernel 'staged_mma' need more shared memory than the "
                        "device has");
    }
    const auto kernel = staged_mma_kernel<Config, V, Product>;
    // The same for all matrices: it belongs to the kernel, which another thread may launch, too.
    const std::size_t most = context_.device().shared_bytes_per_block - kBarrierBytes;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(most)));
    const auto stripes = static_cast<int>((product.N + Config::kStripe - 1) / Config::kStripe);
    const Index places = Index{resident()} * context_.device().multiprocessors;
    // Few row blocks: thread blocks share the stripes of a row block, without any that has none.
    const Index wanted = std::clamp<Index>(places / A_.blocks, 1, stripes);
    const Index share = (stripes + wanted - 1) / wanted;
    const dim3 grid(static_cast<unsigned>(std::min(A_.blocks, places)), blocks_for(stripes, share));
    launch_dependent(kernel, {grid, Config::kThreads, bytes()}, context_.stream(), product, A_,
                     stripes, blocks_are_aligned(product));
  }

 private:
  static constexpr std::size_t kBarrierBytes = sizeof(typename Ring<Config>::Barriers);

  std::size_t bytes() const noexcept {
    return Config::kStages * static_cast<std::size_t>(A_.stage_bytes[Config::kVersion]);
  }

  CudaContext& context_;
  const TilePiecesView& A_;
};

template <class T>
inline constexpr int kFull = kVectorWidth<T>;

// The versions, measured on one H200: up to 16 columns, three small thread blocks hide the latency
// of the copies; wider stripes want more warps; and where A takes most of a stage, it is copied
// once for twice the columns.

/// Stripes of 8 columns of doubles, of 16 of floats.
template <class T>
using Narrowest = StagedMmaConfig<T, 0, kFull<T> / 2, 1, 4, 2, 3>;
/// Stripes of 16 columns. For floats, this is `Narrowest`.
template <class T>
using Narrow = StagedMmaConfig<T, sizeof(T) / 4 - 1, 2, 1, 4, 2, 3>;
/// Stripes of 32 columns.
template <class T>
using Medium = StagedMmaConfig<T, sizeof(T) / 4, kFull<T>, 4 / kFull<T>, 8, 4, 2>;
/// Stripes of 64 columns.
template <class T>
using Wide = StagedMmaConfig<T, 1 + sizeof(T) / 4, kFull<T>, 8 / kFull<T>, 8, 4, 1>;

template <class T, class V>
class StagedMmaPlan : public KernelPlan<T, DeviceSpace> {
 public:
  StagedMmaPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : pieces_(context, matrix.A) {}

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    const TilePiecesView& A = pieces_.view();
    const StagedMmaLaunch<Medium<T>> medium(context, A);
    const StagedMmaLaunch<Wide<T>> wide(context, A);
    const bool is_wide = product.N > Medium<T>::kStripe && A.long_parts && wide.resident() > 0;
    dispatch_terms(product, [&](const auto& known) {
      if (product.N <= Narrowest<T>::kStripe) {
        StagedMmaLaunch<Narrowest<T>>(context, A).template run<V>(known);
      } else if (product.N <= Narrow<T>::kStripe) {
        StagedMmaLaunch<Narrow<T>>(context, A).template run<V>(known);
      } else if (is_wide) {
        wide.template run<V>(known);
      } else {
        medium.template run<V>(known);
      }
    });
  }

 private:
  TilePieces<V> pieces_;
};

}  // namespace

KernelMakers<DeviceSpace> StagedMmaKernel::makers() {
  return makers_by_values<StagedMmaKernel, StagedMmaPlan>();
}

}  // namespace heddle::detail::cuda
