#include <cuda_pipeline.h>

#include <cstdio>
#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/staged/row_blocks.hpp>
#include <heddle/spmm/kernels/cuda/staged/staged_kernel.hpp>

namespace heddle::detail::cuda {
namespace {

/// How a product of N columns is divided, and where everything lies in shared memory, in bytes.
struct StageShape {
  int lanes = 0;         ///< threads per row, each of 16 bytes
  int rows_at_once = 0;  ///< rows of a block that the threads multiply at the same time
  int threads = 0;
  Index stripes = 0;
  int stripe = 0;            ///< columns of C in a stripe
  bool wide_copies = false;  ///< whether rows of B can be copied by 16 bytes
  bool wide_terms = false;   ///< whether rows of C, X and Y can be read and written by 16 bytes
  unsigned pitch = 0;        ///< between rows of B
  unsigned values = 0;       ///< of A, from the begin of a stage
  unsigned places = 0;
  unsigned row_quads = 0;
  unsigned stage_bytes = 0;
  unsigned lists = 0;  ///< of columns, from the begin of shared memory
  unsigned list_bytes = 0;
  unsigned queue = 0;
  unsigned bytes = 0;
};

template <int kStagesOf, int kRowsOf, int kThreadsOf>
struct StagedConfig {
  static constexpr int kStages = kStagesOf;   // of the ring
  static constexpr int kAhead = kStages - 1;  // pieces whose copies are in flight
  static constexpr int kRows = kRowsOf;       // rows of C per thread
  static constexpr int kMostThreads = kThreadsOf;
  // A piece enters the queue before its columns are copied, and these before its rows of B.
  static constexpr int kListedAhead = kAhead > 0 ? 2 * kAhead : 1;
  static constexpr int kQueuedAhead = kListedAhead + 1;
  static constexpr int kLists = kListedAhead + 1;
  static constexpr int kQueue = 8;  // places for pieces, a power of two
  static_assert(kQueuedAhead < kQueue);
};

/// A piece and the stripe of columns in which it is multiplied.
struct QueuedPiece {
  RowPiece piece;
  Index index;          ///< of the piece, −1 behind the last one
  Index stripe_column;  ///< the first of the stripe
};

/// The pieces that a thread block multiplies, in order. Block t, t + grid, … of the row blocks
/// times stripes, stripes first, so that thread blocks that run together share rows of B. One
/// thread walks through them and loads each piece one call ahead.
template <class T>
class PieceWalk {
 public:
  __device__ PieceWalk(const RowBlocksView<T>& A, const StageShape& shape)
      : A_(A), shape_(shape), tasks_(A.blocks * shape.stripes), task_(blockIdx.x) {
    if (task_ >= tasks_) return;
    piece_ = A.first_piece[task_ / shape.stripes];
    load();
    load_first_of_next_task();
  }

  /// The next piece.
  __device__ QueuedPiece take() {
    if (task_ >= tasks_) return {{}, -1, 0};
    const QueuedPiece taken = {loaded_, piece_, task_ % shape_.stripes * shape_.stripe};
    if (taken.piece.last == 0) {
      ++piece_;
      load();
    } else {
      task_ += gridDim.x;
      if (task_ < tasks_) {
        piece_ = first_of_next_task_;
        load();
        load_first_of_next_task();
      }
    }
    return taken;
  }

 private:
  __device__ void load() { loaded_ = A_.pieces[piece_]; }
  __device__ void load_first_of_next_task() {
    const Index next = task_ + gridDim.x;
    if (next < tasks_) first_of_next_task_ = A_.first_piece[next / shape_.stripes];
  }

  const RowBlocksView<T>& A_;
  const StageShape& shape_;
  Index tasks_;
  Index task_;
  Index piece_ = 0;
  Index first_of_next_task_ = 0;
  RowPiece loaded_{};
};

/// Copies `bytes`, a multiple of 16, by all threads. Both addresses are aligned to 16 bytes.
__device__ void copy_part(char* to, const void* from, int bytes) {
  for (int k = static_cast<int>(threadIdx.x) * kVectorBytes; k < bytes;
       k += static_cast<int>(blockDim.x) * kVectorBytes) {
    __pipeline_memcpy_async(to + k, static_cast<const char*>(from) + k, kVectorBytes);
  }
}

/// Copies the rows `list` of B, columns `first` … of a stripe, by `kBytes` at a time. What is
/// beyond the last column becomes zero up to a multiple of kBytes.
template <int kBytes, class T>
__device__ void copy_rows(char* to, unsigned pitch, const SpmmProduct<T>& p,
                          const std::int32_t* list, int count, Index first, int columns) {
  constexpr int kValues = kBytes / static_cast<int>(sizeof(T));
  const int chunks = (columns + kValues - 1) / kValues;
  const int step = static_cast<int>(blockDim.x) / chunks;
  const int chunk = static_cast<int>(threadIdx.x) % chunks;
  const int begin = static_cast<int>(threadIdx.x) / chunks;
  const Index column = first + chunk * kValues;
  if (begin >= step || column >= p.N) return;
  const int absent = max(0, kValues - static_cast<int>(min(p.N - column, Index{kValues})));
  const T* const from = p.B + column;
  char* const own = to + chunk * kBytes;
  for (int r = begin; r < count; r += step) {
    __pipeline_memcpy_async(own + r * pitch, from + list[r] * p.ldb, kBytes, absent * sizeof(T));
  }
}

template <class T>
__device__ void copy_stage(char* stage, const SpmmProduct<T>& p, const RowBlocksView<T>& A,
                           const StageShape& shape, const QueuedPiece& queued,
                           const std::int32_t* list) {
  const RowPiece& piece = queued.piece;
  if (shape.wide_copies) {
    copy_rows<kVectorBytes>(stage, shape.pitch, p, list, piece.columns, queued.stripe_column,
                            shape.stripe);
  } else {
    copy_rows<sizeof(T)>(stage, shape.pitch, p, list, piece.columns, queued.stripe_column,
                         shape.stripe);
  }
  const Index first = piece.first_quad * kQuad;
  copy_part(stage + shape.values, A.values + first,
            piece.quads * kQuad * static_cast<int>(sizeof(T)));
  copy_part(stage + shape.places, A.places + first,
            piece.quads * kQuad * static_cast<int>(sizeof(std::uint16_t)));
  copy_part(stage + shape.row_quads, A.row_quads + queued.index * A.quad_pitch(),
            A.quad_pitch() * static_cast<int>(sizeof(std::uint16_t)));
}

/// The values of a quad.
__device__ inline void load_quad(const float* from, float (&quad)[kQuad]) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  quad[0] = v.x;
  quad[1] = v.y;
  quad[2] = v.z;
  quad[3] = v.w;
}
__device__ inline void load_quad(const double* from, double (&quad)[kQuad]) {
  const double2 v = reinterpret_cast<const double2*>(from)[0];
  const double2 w = reinterpret_cast<const double2*>(from)[1];
  quad[0] = v.x;
  quad[1] = v.y;
  quad[2] = w.x;
  quad[3] = w.y;
}

/// The values and places of a quad.
template <class T>
struct Quad {
  T values[kQuad];
  ushort4 places;

  __device__ Quad(const T* from, const std::uint16_t* places_from, int quad)
      : places(reinterpret_cast<const ushort4*>(places_from)[quad]) {
    load_quad(from + quad * kQuad, values);
  }
};

/// sum += the products of quads first … last − 1 with rows of B. `B` points at the lane's columns
/// of the first row in shared memory. The next quad is loaded while one is multiplied, so there
/// must be one behind the last.
template <class T, int kWidth>
__device__ void add_quads(const char* B, unsigned pitch, const T* values,
                          const std::uint16_t* places, int first, int last, Lane<T, kWidth>& sum) {
  Quad<T> next(values, places, first);
#pragma unroll 2
  for (int quad = first; quad < last; ++quad) {
    const Quad<T> own = next;
    next = Quad<T>(values, places, quad + 1);
    const unsigned at[kQuad] = {own.places.x, own.places.y, own.places.z, own.places.w};
    Lane<T, kWidth> b[kQuad];
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
      b[k] = *reinterpret_cast<const Lane<T, kWidth>*>(B + at[k] * pitch);
    }
#pragma unroll
    for (int k = 0; k < kQuad; ++k) multiply_add(own.values[k], b[k], sum);
  }
}

/// The sums of a thread's rows, and the multiplication of a staged piece.
template <class Config, class Product>
class RowSums {
  using T = typename Product::Value;
  static constexpr int kWidth = kVectorWidth<T>;

 public:
  __device__ explicit RowSums(const StageShape& shape)
      : first_row_(static_cast<int>(threadIdx.x) / shape.lanes),
        column_(static_cast<int>(threadIdx.x) % shape.lanes * kWidth),
        active_(first_row_ < shape.rows_at_once) {}

  /// Loads what the rows of a block's last piece need beside their sums.
  __device__ void begin(const Product& p, const RowBlocksView<T>& A, const StageShape& shape,
                        const QueuedPiece& queued, const std::int32_t* rows) {
    const Index column = queued.stripe_column + column_;
    const bool needed = active_ && column < p.N && queued.piece.last != 0;
    whole_ = shape.wide_terms && column + kWidth <= p.N;
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      const int r = first_row_ + k * shape.rows_at_once;
      rows_[k] = needed && r < A.rows_per_block ? rows[r] : -1;
    }
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      if (rows_[k] < 0 || !whole_) continue;
      if (p.beta != T{0}) terms_[k].C = load_once<kWidth>(p.C + rows_[k] * p.ldc + column);
      if constexpr (Product::kTerms) {
        if (p.delta != T{0}) terms_[k].X = load_once<kWidth>(p.X + rows_[k] * p.ldx + column);
      }
    }
  }

  __device__ void add(const Product& p, const RowBlocksView<T>& A, const StageShape& shape,
                      const QueuedPiece& queued, const char* stage) {
    const Index column = queued.stripe_column + column_;
    if (!active_ || column >= p.N) return;
    const auto* const row_quads = reinterpret_cast<const std::uint16_t*>(stage + shape.row_quads);
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      const int r = first_row_ + k * shape.rows_at_once;
      if (r >= A.rows_per_block) break;
      const std::int32_t row = rows_[k];
      if constexpr (Product::kTerms) {
        if (row >= 0 && whole_) {
          if (p.gamma != T{0}) terms_[k].B = load<kWidth>(p.B + row * p.ldb + column);
          if (p.eta != T{0}) terms_[k].Y = load_once<kWidth>(p.Y + row * p.ldy + column);
        }
      }
      add_quads(stage + column_ * sizeof(T), shape.pitch,
                reinterpret_cast<const T*>(stage + shape.values),
                reinterpret_cast<const std::uint16_t*>(stage + shape.places), row_quads[r],
                row_quads[r + 1], sums_[k]);
      if (row < 0) continue;
      if (whole_) {
        finish<Storing::streaming>(p, row, column, sums_[k], terms_[k]);
      } else {
#pragma unroll
        for (int i = 0; i < kWidth; ++i) {
          if (column + i < p.N) finish(p, row, column + i, Lane<T, 1>{{sums_[k][i]}});
        }
      }
      sums_[k] = {};
    }
  }

 private:
  int first_row_;
  int column_;
  bool active_;
  bool whole_ = false;                ///< whether the terms are loaded and stored as vectors
  std::int32_t rows_[Config::kRows];  ///< of C, −1 where the sum is not finished
  Lane<T, kWidth> sums_[Config::kRows];
  Terms<T, kWidth> terms_[Config::kRows];
};

/// Each round i multiplies piece i, while the copies of the pieces up to i + kAhead are in flight,
/// the columns of further ones, and a walk ahead of these.
template <class Config, class Product, class T = typename Product::Value>
__global__ __launch_bounds__(Config::kMostThreads) void staged_kernel(Product p, RowBlocksView<T> A,
                                                                      StageShape shape) {
  extern __shared__ __align__(16) char memory[];
  auto* const queue = reinterpret_cast<QueuedPiece*>(memory + shape.queue);
  const auto queued = [&](int i) -> QueuedPiece& { return queue[i & (Config::kQueue - 1)]; };
  const auto stage = [&](int i) { return memory + i % Config::kStages * shape.stage_bytes; };
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
    if (i >= 0) sums.begin(p, A, shape, queued(i), list(i) + A.most_columns);
    const int copied = i + Config::kAhead;
    if (copied >= 0 && queued(copied).index >= 0) {
      copy_stage(stage(copied), p, A, shape, queued(copied), list(copied));
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
    if (i >= 0) sums.add(p, A, shape, queued(i), stage(i));
  }
}

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoi(text) : otherwise;
}

/// The shape with `stripes` stripes.
template <class T>
StageShape shape_with(const RowBlocksView<T>& A, Index N, Index stripes, int stages, int rows) {
  StageShape shape;
  const Index vectors = (N + kVectorWidth<T> - 1) / kVectorWidth<T>;
  shape.lanes = static_cast<int>((vectors + stripes - 1) / stripes);
  shape.stripe = shape.lanes * kVectorWidth<T>;
  shape.stripes = (N + shape.stripe - 1) / shape.stripe;
  shape.rows_at_once = (A.rows_per_block + rows - 1) / rows;
  shape.threads = (shape.rows_at_once * shape.lanes + kWarpSize - 1) / kWarpSize * kWarpSize;
  shape.pitch = static_cast<unsigned>(shape.lanes * kVectorBytes);
  const auto quads = static_cast<unsigned>((A.most_quads + 2) * kQuad);  // one behind the last
  shape.values = static_cast<unsigned>(A.most_columns) * shape.pitch;
  shape.places = shape.values + quads * static_cast<unsigned>(sizeof(T));
  shape.row_quads = shape.places + quads * 2;
  shape.stage_bytes = shape.row_quads + static_cast<unsigned>(A.quad_pitch()) * 2;
  shape.list_bytes = static_cast<unsigned>(A.most_columns + A.rows_per_block) * 4;
  shape.lists = static_cast<unsigned>(stages) * shape.stage_bytes;
  shape.queue = shape.lists + static_cast<unsigned>(stages + 1) * shape.list_bytes;
  shape.bytes = shape.queue + 8 * static_cast<unsigned>(sizeof(QueuedPiece));
  return shape;
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
    const int threads = from_environment("HEDDLE_STAGED_THREADS", 640);
    dispatch_at_least<1, 2>(stages, [&]<int kStages>() {
      dispatch_at_least<1, 2, 4>(rows, [&]<int kRows>() {
        dispatch_at_least<640, 1024>(threads, [&]<int kThreads>() {
          dispatch_terms(product, [&](const auto& p) {
            launch<StagedConfig<kStages, kRows, kThreads>>(context, p);
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
    const Index vectors = (product.N + kVectorWidth<T> - 1) / kVectorWidth<T>;
    Index stripes = (vectors + 15) / 16;
    StageShape shape = shape_with(A, product.N, stripes, Config::kStages, Config::kRows);
    while ((shape.bytes > share || shape.threads > Config::kMostThreads) && stripes < vectors) {
      shape = shape_with(A, product.N, ++stripes, Config::kStages, Config::kRows);
    }
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
        std::printf("# resident %d threads %d bytes %u stripes %lld lanes %d\n", resident,
                    shape.threads, shape.bytes, static_cast<long long>(shape.stripes), shape.lanes);
      }
    }
    const Index tasks = A.blocks * shape.stripes;
    const Index grid = std::min<Index>(tasks, Index{resident} * context.device().multiprocessors);
    kernel<<<static_cast<unsigned>(grid), static_cast<unsigned>(shape.threads), shape.bytes,
             context.stream()>>>(product, A, shape);
    check_launch();
  }

  RowBlocks<T> blocks_;
};

}  // namespace

KernelMakers<DeviceSpace> StagedKernel::makers() { return makers_of<StagedPlan, DeviceSpace>(); }

}  // namespace heddle::detail::cuda
