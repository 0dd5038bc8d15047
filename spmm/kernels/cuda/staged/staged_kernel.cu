#include <cstdio>
#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/row_sums.cuh>
#include <heddle/spmm/kernels/cuda/staged/stage_shape.hpp>
#include <heddle/spmm/kernels/cuda/staged/staged_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

template <int kStagesOf, int kRowsOf, int kBatchOf, int kChunksOf>
struct StagedConfig {
  static constexpr int kStages = kStagesOf;   // of the ring
  static constexpr int kAhead = kStages - 1;  // pieces whose copies are in flight
  static constexpr int kRows = kRowsOf;       // rows of C per thread
  static constexpr int kBatch = kBatchOf;     // quads whose loads are in flight together
  static constexpr int kChunks = kChunksOf;   // vectors of a row of C per thread
  static constexpr int kMostThreads = 640;
  // A piece enters the queue before its columns are copied, and these before its rows of B.
  static constexpr int kListedAhead = kAhead > 0 ? 2 * kAhead : 1;
  static constexpr int kQueuedAhead = kListedAhead + 1;
  static constexpr int kLists = kListedAhead + 1;
  static constexpr int kQueue = 8;  // places for pieces, a power of two
  static_assert(kQueuedAhead < kQueue);
  static constexpr StageSizes kSizes = {kStages, kLists, kQueue, kRows, kChunks, kMostThreads};
};

/// Each round i multiplies piece i, while the copies of the pieces up to i + kAhead are in flight,
/// the columns of further ones, and a walk ahead of these.
template <class Config, class Product, class T = typename Product::Value>
__global__ __launch_bounds__(Config::kMostThreads) void staged_kernel(Product p, RowBlocksView<T> A,
                                                                      StageShape shape) {
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
  PieceWalk<T> walk(A, shape);
  RowSums<Config, Product> sums(shape);
  for (int i = -Config::kQueuedAhead;; ++i) {
    if constexpr (Config::kAhead > 0) __pipeline_wait_prior(Config::kAhead - 1);
    __syncthreads();
    if (i >= 0 && queued(i).index < 0) break;
    typename RowSums<Config, Product>::Early early;
    if (i >= 0) early = sums.begin(p, A, shape, queued(i), list(i) + A.most_columns);
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
    if (i >= 0) sums.add(p, A, shape, queued(i), rows_of_B(i), part(queued(i)), early);
  }
}

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

template <class T>
class StagedPlan : public KernelPlan<T, DeviceSpace> {
 public:
  StagedPlan(CudaContext& context, const KernelMatrix<T, DeviceSpace>& matrix)
      : blocks_(context, matrix.A,
                {from_environment("HEDDLE_STAGED_ROWS", 128),
                 from_environment("HEDDLE_STAGED_COLUMNS", 512),
                 from_environment("HEDDLE_STAGED_ENTRIES", 4096)}) {
    if (std::getenv("HEDDLE_STAGED_PRINT") != nullptr) {
      std::printf("# blocks %lld pieces %lld columns per row %.3f most columns %d most quads %d\n",
                  static_cast<long long>(blocks_.view().blocks),
                  static_cast<long long>(blocks_.pieces()),
                  static_cast<double>(blocks_.columns()) / static_cast<double>(matrix.A.rows),
                  blocks_.view().most_columns, blocks_.view().most_quads);
    }
  }

  void run(CudaContext& context, const SpmmProduct<T>& product) override {
    const int stages = from_environment("HEDDLE_STAGED_STAGES", 2);
    const int rows = from_environment("HEDDLE_STAGED_PER_THREAD", 2);
    const int chunks = from_environment("HEDDLE_STAGED_CHUNKS", 1);
    dispatch_at_least<1, 2>(stages, [&]<int kStages>() {
      dispatch_at_least<1, 2>(rows, [&]<int kRows>() {
        dispatch_at_least<1, 2>(chunks, [&]<int kChunks>() {
          dispatch_terms(product, [&](const auto& p) {
            launch<StagedConfig<kStages, kRows, 1, kChunks>>(context, p);
          });
        });
      });
    });
  }

 private:
  template <class Config, class Product>
  void launch(CudaContext& context, const Product& product) {
    const RowBlocksView<T>& A = blocks_.view();
    const auto most = static_cast<unsigned>(context.device().shared_bytes_per_block);
    const unsigned share =
        (most + 1024) / static_cast<unsigned>(from_environment("HEDDLE_STAGED_BLOCKS", 2)) - 1024;
    StageShape shape = stage_shape(A, product.N, Config::kSizes, share);
    shape.wide_copies = rows_are_aligned(product.B, product.ldb);
    shape.wide_terms = rows_are_aligned(product.C, product.ldc) &&
                       (product.gamma == T{0} || shape.wide_copies) &&
                       (product.delta == T{0} || rows_are_aligned(product.X, product.ldx)) &&
                       (product.eta == T{0} || rows_are_aligned(product.Y, product.ldy));
    const auto kernel = staged_kernel<Config, Product>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(most)));
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, shape.threads,
                                                        shape.bytes));
    if (resident == 0)
      throw OutOfMemory(shape.bytes, "staged: a stage does not fit into shared memory");
    if (std::getenv("HEDDLE_STAGED_PRINT") != nullptr) {
      static int printed = 0;
      if (printed++ % 997 == 0) {
        std::printf("# resident %d threads %d bytes %u stripes %d lanes %d\n", resident,
                    shape.threads, shape.bytes, shape.stripes, shape.lanes);
      }
    }
    const Index grid =
        std::min<Index>(A.blocks, Index{resident} * context.device().multiprocessors);
    kernel<<<static_cast<unsigned>(grid), static_cast<unsigned>(shape.threads), shape.bytes,
             context.stream()>>>(product, A, shape);
    check_launch();
  }

  RowBlocks<T> blocks_;
};

}  // namespace

KernelMakers<DeviceSpace> StagedKernel::makers() { return makers_of<StagedPlan, DeviceSpace>(); }

}  // namespace heddle::detail::cuda
