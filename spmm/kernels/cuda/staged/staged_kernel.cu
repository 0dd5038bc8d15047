#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/grow.hpp>
#include <heddle/spmm/kernels/cuda/narrow_values.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_segments.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_sums.cuh>
#include <heddle/spmm/kernels/cuda/staged/shared_memory.hpp>
#include <heddle/spmm/kernels/cuda/staged/stage_shape.hpp>
#include <heddle/spmm/kernels/cuda/staged/staged_kernel.hpp>
#include <heddle/spmm/kernels/cuda/staged/stripe_lanes.hpp>
#include <map>

namespace heddle::detail::cuda {
namespace {

/// A version of the kernel. Measured on one H200 (27-point stencil): two vectors per thread win
/// where they meet no bank conflicts, else a ring of two stages where two thread blocks of whole
/// rows of C fit on a multiprocessor, else thread blocks of one stage, which overlap each other.
template <int kStagesOf, int kChunksOf, int kMostThreadsOf, int kBlocksOf>
struct StagedConfig {
  static constexpr int kStages = kStagesOf;   // of the ring
  static constexpr int kAhead = kStages - 1;  // pieces whose copies are in flight
  static constexpr int kChunks = kChunksOf;   // vectors of a row of C per thread
  // Threads per row of C are a multiple of this.
  static constexpr int kUnit = kChunks > 1 ? kPhase / kChunks : 1;
  // Of the largest thread blocks, registers suffice for kBlocks per multiprocessor. 0: the compiler
  // takes the registers that it wants.
  static constexpr int kMostThreads = kMostThreadsOf;
  static constexpr int kBlocks = kBlocksOf;
  // A piece enters the queue before its columns are copied, and these before its rows of B.
  static constexpr int kListedAhead = kAhead > 0 ? 2 * kAhead : 1;
  static constexpr int kQueuedAhead = kListedAhead + 1;
  static constexpr int kLists = kListedAhead + 1;
  static constexpr int kQueue = 8;  // places for pieces, a power of two
  static_assert(kQueuedAhead < kQueue);
  static constexpr StageSizes kSizes = {kStages, kLists, kQueue, kChunks, kUnit, kMostThreads};
};
using RingConfig = StagedConfig<2, 1, 640, 0>;
using PairConfig = StagedConfig<1, 2, 256, 3>;
using SingleConfig = StagedConfig<1, 1, 640, 0>;

/// Thread blocks that shared memory is divided among, without a ring at most.
constexpr int kRingBlocks = 2;
constexpr int kPairBlocks = 3;
constexpr int kSingleBlocks = 4;
constexpr int kFewestBlocks = 2;

/// Each round i multiplies piece i, while the copies of the pieces up to i + kAhead are in flight,
/// the columns of further ones, and a walk ahead of these.
template <class Config, class Product, class V>
__global__ __launch_bounds__(Config::kMostThreads, Config::kBlocks) void staged_kernel(
    Product p, RowBlocksView<V> A, StageShape shape, RowParts<typename Product::Value> parts) {
  extern __shared__ __align__(16) char memory[];
  auto* const queue = reinterpret_cast<QueuedPiece*>(memory + shape.queue);
  const auto queued = [&](int i) -> QueuedPiece& { return queue[i & (Config::kQueue - 1)]; };
  const auto rows_of_B = [&](int i) { return memory + i % Config::kStages * shape.row_bytes; };
  const auto part = [&](const QueuedPiece& piece) {
    return memory + shape.parts + piece.part % Config::kStages * shape.part_bytes;
  };
  const auto list = [&](int i) {
    return reinterpret_cast<std::int32_t*>(memory + shape.lists +
                                           i % Config::kLists * shape.list_bytes);
  };
  PieceWalk<RowBlocksView<V>> walk(A, {0, shape.stripes, shape.stripe});
  RowSums<Config, Product, V> sums(shape);
  for (int i = -Config::kQueuedAhead;; ++i) {
    if constexpr (Config::kAhead > 0) __pipeline_wait_prior(Config::kAhead - 1);
    __syncthreads();
    if (i == -Config::kAhead) wait_for_previous_kernel();  // before, only parts of A are read
    if (i >= 0 && queued(i).index < 0) break;
    typename RowSums<Config, Product, V>::Early early;
    if (i >= 0) early = sums.begin(p, shape, queued(i), list(i) + A.most_columns);
    const int copied = i + Config::kAhead;
    if (copied >= 0 && queued(copied).index >= 0) {
      copy_stage(rows_of_B(copied), part(queued(copied)), p, A, shape, queued(copied),
                 list(copied));
    }
    const int listed = i + Config::kListedAhead;
    if (listed >= 0 && queued(listed).index >= 0) {
      const RowPiece& piece = queued(listed).piece;
      for (int k = threadIdx.x; k < piece.columns; k += blockDim.x) {
        __pipeline_memcpy_async(list(listed) + k, A.columns + piece.first_column + k,
                                sizeof(std::int32_t));
      }
      copy_part(reinterpret_cast<char*>(list(listed) + A.most_columns),
                A.rows + static_cast<Index>(piece.block) * A.rows_per_block,
                A.rows_per_block * static_cast<int>(sizeof(std::int32_t)));
    }
    __pipeline_commit();
    if (threadIdx.x == 0) queued(i + Config::kQueuedAhead) = walk.take();
    if constexpr (Config::kAhead == 0) {
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    if (i >= 0) sums.add(p, shape, queued(i), rows_of_B(i), part(queued(i)), early, parts);
  }
}

/// The most rows of a block, for rows of B of up to `kShortBytes` and for longer ones.
template <class T>
constexpr int kManyBlockRows = sizeof(T) == 4 ? 128 : 64;
constexpr int kBlockRows = 64;
constexpr Index kShortBytes = 80;

unsigned share_of(const CudaContext& context, int blocks) {
  return static_cast<unsigned>(shared_bytes_of(context, blocks));
}

/// Half of a stage for A's part, if three of four values in it are entries. Where rows share few
/// columns, more of them narrow the stripes of B. The memory for rows of B follows from the
/// columns.
template <class V>
PieceLimits piece_limits(const CudaContext& context, int rows, bool sharing) {
  constexpr int kColumns = 512;
  constexpr int kColumnsAlone = 256;
  constexpr unsigned kEntryBytes = (kTeamRows * sizeof(V) + sizeof(std::uint16_t)) * 2 / 3;
  const auto bytes = static_cast<int>(share_of(context, kRingBlocks) /
                                      (2 * static_cast<unsigned>(RingConfig::kStages)));
  constexpr auto kEntry = static_cast<int>(kEntryBytes);
  return {rows, sharing ? kColumns : kColumnsAlone, 0, kEntry, std::max(rows * kEntry, bytes)};
}

/// The product of a matrix in row blocks.
template <class T, class V, class Product>
class StagedLaunch {
 public:
  StagedLaunch(CudaContext& context, const RowBlocksView<V>& A, const Product& product,
               const RowParts<T>& parts)
      : context_(context), A_(A), product_(product), parts_(parts) {}

  void run() const {
    if (has_paired_vectors(vectors()) && A_.rows_per_block == kBlockRows) {
      launch<PairConfig>(blocks_up_to<PairConfig>(kPairBlocks));
    } else if (shape<RingConfig>(kRingBlocks).stripes == 1) {
      launch<RingConfig>(kRingBlocks);
    } else {
      launch<SingleConfig>(blocks_up_to<SingleConfig>(kSingleBlocks));
    }
  }

 private:
  Index vectors() const { return padded_vectors(product_.N, kVectorWidth<T>) / kVectorWidth<T>; }

  template <class Config>
  StageSizes sizes() const {
    StageSizes sizes = Config::kSizes;
    if (Config::kChunks > 1) sizes.most_threads = A_.teams() * paired_lanes(vectors());
    return sizes;
  }

  template <class Config>
  StageShape shape(int blocks) const {
    return stage_shape<T>(A_, product_.N, sizes<Config>(), share_of(context_, blocks));
  }

  /// `most` thread blocks, or fewer where they divide rows of C into fewer stripes (one H200: up to
  /// 2 times as fast).
  template <class Config>
  int blocks_up_to(int most) const {
    int blocks = most;
    while (blocks > kFewestBlocks &&
           shape<Config>(blocks - 1).stripes < shape<Config>(blocks).stripes) {
      --blocks;
    }
    return blocks;
  }

  template <class Config>
  void launch(int blocks) const {
    StageShape shape = this->shape<Config>(blocks);
    shape.wide_copies = rows_are_aligned(product_.B, product_.ldb);
    shape.wide_terms = rows_are_aligned(product_.C, product_.ldc) &&
                       (product_.gamma == T{0} || shape.wide_copies) &&
                       (product_.delta == T{0} || rows_are_aligned(product_.X, product_.ldx)) &&
                       (product_.eta == T{0} || rows_are_aligned(product_.Y, product_.ldy));
    const auto kernel = staged_kernel<Config, Product, V>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(context_.device().shared_bytes_per_block)));
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, shape.threads,
                                                        shape.bytes));
    if (resident == 0) {
      throw OutOfMemory(shape.bytes,
                        "a stage of the kernel 'staged' needs more shared memory than "
                        "the device has");
    }
    const auto grid =
        std::min<Index>(A_.blocks, Index{resident} * context_.device().multiprocessors);
    launch_dependent(kernel,
                     {static_cast<unsigned>(grid), static_cast<unsigned>(shape.threads),
                      static_cast<std::size_t>(shape.bytes)},
                     context_.stream(), product_, A_, shape, parts_);
  }

  CudaContext& context_;
  const RowBlocksView<V>& A_;
  const Product& product_;
  const RowParts<T>& parts_;
};

template <class T, class V>
void launch_staged(CudaContext& context, const RowBlocksView<V>& A, const SpmmProduct<T>& product,
                   const RowParts<T>& parts = {}) {
  dispatch_terms(product, [&](const auto& p) {
    StagedLaunch<T, V, std::remove_cvref_t<decltype(p)>>(context, A, p, parts).run();
  });
}

template <class T, class V>
class StagedPlan : public KernelPlan<T, DeviceSpace> {
 public:
  StagedPlan(CudaContext&, const KernelMatrix<T, DeviceSpace>& matrix) : A_(matrix.A) {}

  /// Builds the row blocks for this width. Narrower products take them, too, if they have none.
  void prepare(CudaContext& context, Index N) override {
    const int rows = rows_for(N);
    if (!blocks_.contains(rows)) {
      blocks_.try_emplace(rows, context, A_, piece_limits<V>(context, rows, true));
    }
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    const auto own = blocks_.find(rows_for(product.N));
    launch_staged(context, (own != blocks_.end() ? own : blocks_.begin())->second.view(), product);
  }

 private:
  static int rows_for(Index N) {
    return N * static_cast<Index>(sizeof(T)) <= kShortBytes ? kManyBlockRows<T> : kBlockRows;
  }

  CsrView<T, DeviceSpace> A_;
  std::map<int, RowBlocks<V>> blocks_;  ///< by the most rows of a block
};

/// The length of segments: the mean length of rows, and less where whole rows make too few row
/// blocks to occupy the device.
Index segment_length(const MatrixFeatures& A, const DeviceSizes& device) {
  constexpr double kShortest = 64;  // the second pass moves little
  constexpr double kBlocksPerMultiprocessor = 8;
  const double blocks = static_cast<double>(A.rows) / kBlockRows;
  const double utilisation =
      std::min(1.0, blocks / (kBlocksPerMultiprocessor * device.multiprocessors));
  return static_cast<Index>(std::max(kShortest, std::ceil(utilisation * A.row_mean)));
}

template <class T, class V>
class StagedSegmentsPlan : public KernelPlan<T, DeviceSpace> {
 public:
  StagedSegmentsPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : segments_(context, matrix.A, segment_length(matrix.features, context.device())),
        blocks_(context, segments_.view(matrix.A), piece_limits<V>(context, kBlockRows, false)) {
    blocks_.set_targets(context, segments_.targets());
  }

  void prepare(CudaContext& context, Index N) override {
    grow(context, parts_, segments_.parts() * part_pitch<T>(N));
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    const RowParts<T> parts = {parts_.data(), part_pitch<T>(product.N)};
    launch_staged(context, blocks_.view(), product, parts);
    launch_add_parts(context, product, segments_.split_rows(), parts);
  }

 private:
  RowSegments segments_;
  RowBlocks<V> blocks_;
  Buffer<T, DeviceSpace> parts_;
};

}  // namespace

KernelMakers<DeviceSpace> StagedKernel::makers() {
  return makers_by_values<StagedKernel, StagedPlan>();
}

KernelMakers<DeviceSpace> StagedSegmentsKernel::makers() {
  return makers_by_values<StagedSegmentsKernel, StagedSegmentsPlan>();
}

}  // namespace heddle::detail::cuda
