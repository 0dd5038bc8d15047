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
  int stripes = 0;
  int stripe = 0;            ///< columns of C in a stripe
  bool wide_copies = false;  ///< whether rows of B can be copied by 16 bytes
  bool wide_terms = false;   ///< whether rows of C, X and Y can be read and written by 16 bytes
  unsigned pitch = 0;        ///< between rows of B
  unsigned row_bytes = 0;    ///< of the rows of B of a piece
  unsigned parts = 0;        ///< of A, from the begin of shared memory
  unsigned part_bytes = 0;
  unsigned places = 0;     ///< from the begin of a part, which begins with values
  unsigned row_quads = 0;  ///< likewise
  unsigned lists = 0;      ///< of columns, from the begin of shared memory
  unsigned list_bytes = 0;
  unsigned queue = 0;
  unsigned bytes = 0;
};

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
};

/// A piece and the stripe of columns in which it is multiplied.
struct QueuedPiece {
  RowPiece piece;
  Index index;          ///< of the piece, −1 behind the last one
  Index stripe_column;  ///< the first of the stripe
  int part;             ///< counts the changes of the piece
  bool new_part;        ///< false for a further stripe of the same piece
};

/// The pieces that a thread block multiplies, in order: row blocks t, t + grid, …, each in all
/// stripes, so that thread blocks that run together share rows of B. One thread walks through them
/// and loads each piece one call ahead.
template <class T>
class PieceWalk {
 public:
  __device__ PieceWalk(const RowBlocksView<T>& A, const StageShape& shape)
      : A_(A), shape_(shape), block_(blockIdx.x) {
    first_of_next_ = A.first_piece[block_];
    begin_block();
  }

  /// The next piece.
  __device__ QueuedPiece take() {
    if (block_ >= A_.blocks) return {{}, -1, 0, 0, false};
    const QueuedPiece taken = {loaded_, piece_, Index{stripe_} * shape_.stripe, part_, new_part_};
    if (taken.piece.last == 0) {
      begin_piece(piece_ + 1);
    } else if (++stripe_ < shape_.stripes) {
      new_part_ = piece_ != first_;
      if (new_part_) begin_piece(first_);
    } else {
      block_ += gridDim.x;
      if (block_ < A_.blocks) begin_block();
    }
    return taken;
  }

 private:
  __device__ void begin_piece(Index piece) {
    piece_ = piece;
    loaded_ = A_.pieces[piece];
    new_part_ = true;
    ++part_;
  }
  __device__ void begin_block() {
    stripe_ = 0;
    first_ = first_of_next_;
    begin_piece(first_);
    const Index next = block_ + gridDim.x;
    if (next < A_.blocks) first_of_next_ = A_.first_piece[next];
  }

  const RowBlocksView<T>& A_;
  const StageShape& shape_;
  Index block_;
  int stripe_ = 0;
  int part_ = 0;
  bool new_part_ = true;
  Index piece_ = 0;
  Index first_ = 0;  ///< piece of the block
  Index first_of_next_ = 0;
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

/// Copies the rows of B that a piece needs to `rows`, and its part of A to `part`.
template <class T>
__device__ void copy_stage(char* rows, char* part, const SpmmProduct<T>& p,
                           const RowBlocksView<T>& A, const StageShape& shape,
                           const QueuedPiece& queued, const std::int32_t* list) {
  const RowPiece& piece = queued.piece;
  if (shape.wide_copies) {
    copy_rows<kVectorBytes>(rows, shape.pitch, p, list, piece.columns, queued.stripe_column,
                            shape.stripe);
  } else {
    copy_rows<sizeof(T)>(rows, shape.pitch, p, list, piece.columns, queued.stripe_column,
                         shape.stripe);
  }
  if (!queued.new_part) return;
  const Index first = piece.first_quad * kQuad;
  copy_part(part, A.values + first, piece.quads * kQuad * static_cast<int>(sizeof(T)));
  copy_part(part + shape.places, A.places + first,
            piece.quads * kQuad * static_cast<int>(sizeof(std::uint16_t)));
  copy_part(part + shape.row_quads, A.row_quads + queued.index * A.quad_pitch(),
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

/// The columns of a thread: kChunks vectors per row.
template <class T, int kChunks>
using Sums = Lane<T, kVectorWidth<T>>[kChunks];

/// sums += the products of `kBatch` quads from `first` on with rows of B. `B[c]` points at the
/// columns of the c-th vector of the first row in shared memory.
template <int kBatch, int kChunks, class T>
__device__ void add_batch(const char* const (&B)[kChunks], unsigned pitch, const T* values,
                          const std::uint16_t* places, int first, Sums<T, kChunks>& sums) {
  using Vector = Lane<T, kVectorWidth<T>>;
  T a[kBatch][kQuad];
  unsigned at[kBatch][kQuad];
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
    load_quad(values + (first + u) * kQuad, a[u]);
    const ushort4 place = reinterpret_cast<const ushort4*>(places)[first + u];
    at[u][0] = place.x * pitch;
    at[u][1] = place.y * pitch;
    at[u][2] = place.z * pitch;
    at[u][3] = place.w * pitch;
  }
  Vector b[kBatch][kQuad][kChunks];
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        b[u][k][c] = *reinterpret_cast<const Vector*>(B[c] + at[u][k]);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < kBatch; ++u) {
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
#pragma unroll
      for (int c = 0; c < kChunks; ++c) multiply_add(a[u][k], b[u][k][c], sums[c]);
    }
  }
}

/// The same for quads first … last − 1.
template <int kBatch, int kChunks, class T>
__device__ void add_quads(const char* const (&B)[kChunks], unsigned pitch, const T* values,
                          const std::uint16_t* places, int first, int last,
                          Sums<T, kChunks>& sums) {
  int quad = first;
  for (; quad + kBatch <= last; quad += kBatch) {
    add_batch<kBatch, kChunks>(B, pitch, values, places, quad, sums);
  }
  for (; kBatch > 1 && quad < last; ++quad) {
    add_batch<1, kChunks>(B, pitch, values, places, quad, sums);
  }
}

/// The sums of a thread's rows, and the multiplication of a staged piece.
template <class Config, class Product>
class RowSums {
  using T = typename Product::Value;
  static constexpr int kWidth = kVectorWidth<T>;
  static constexpr int kChunks = Config::kChunks;
  using Vector = Lane<T, kWidth>;

 public:
  __device__ explicit RowSums(const StageShape& shape)
      : first_row_(static_cast<int>(threadIdx.x) / shape.lanes),
        active_(first_row_ < shape.rows_at_once) {
    const int lane = static_cast<int>(threadIdx.x) % shape.lanes;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      // Four lanes of two neighbouring rows read 128 bytes of different banks.
      const int chunk = shape.lanes == 4 && kChunks == 2 ? c ^ (first_row_ & 1) : c;
      columns_[c] = (chunk * shape.lanes + lane) * kWidth;
    }
  }

  /// What the rows of a block's last piece need beside their sums. It is loaded before the piece is
  /// multiplied.
  struct Early {
    std::int32_t row[Config::kRows];  ///< of C, −1 where the sum is not finished
    Vector C[Config::kRows][kChunks];
    Vector X[Config::kRows][kChunks];
  };

  __device__ Early begin(const Product& p, const RowBlocksView<T>& A, const StageShape& shape,
                         const QueuedPiece& queued, const std::int32_t* rows) const {
    const bool needed = active_ && queued.piece.last != 0;
    Early early;
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      const int r = first_row_ + k * shape.rows_at_once;
      early.row[k] = needed && r < A.rows_per_block ? rows[r] : -1;
    }
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      if (early.row[k] < 0 || !shape.wide_terms) continue;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        const Index column = queued.stripe_column + columns_[c];
        if (column + kWidth > p.N) continue;
        if (p.beta != T{0}) {
          early.C[k][c] = load_once<kWidth>(p.C + early.row[k] * p.ldc + column);
        }
        if constexpr (Product::kTerms) {
          if (p.delta != T{0}) {
            early.X[k][c] = load_once<kWidth>(p.X + early.row[k] * p.ldx + column);
          }
        }
      }
    }
    return early;
  }

  __device__ void add(const Product& p, const RowBlocksView<T>& A, const StageShape& shape,
                      const QueuedPiece& queued, const char* rows_of_B, const char* part,
                      const Early& early) {
    if (!active_) return;
    const auto* const row_quads = reinterpret_cast<const std::uint16_t*>(part + shape.row_quads);
    const char* B[kChunks];
#pragma unroll
    for (int c = 0; c < kChunks; ++c) B[c] = rows_of_B + columns_[c] * sizeof(T);
#pragma unroll
    for (int k = 0; k < Config::kRows; ++k) {
      const int r = first_row_ + k * shape.rows_at_once;
      if (r >= A.rows_per_block) break;
      add_quads<Config::kBatch, kChunks>(
          B, shape.pitch, reinterpret_cast<const T*>(part),
          reinterpret_cast<const std::uint16_t*>(part + shape.places), row_quads[r],
          row_quads[r + 1], sums_[k]);
      if (early.row[k] < 0) continue;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        end(p, shape, early.row[k], queued.stripe_column + columns_[c], sums_[k][c], early.C[k][c],
            early.X[k][c]);
        sums_[k][c] = {};
      }
    }
  }

 private:
  /// Ends a vector of row `row` of C.
  __device__ static void end(const Product& p, const StageShape& shape, Index row, Index column,
                             const Vector& sum, const Vector& C, const Vector& X) {
    if (shape.wide_terms && column + kWidth <= p.N) {
      Terms<T, kWidth> terms;
      terms.C = C;
      terms.X = X;
      if constexpr (Product::kTerms) {
        if (p.gamma != T{0}) terms.B = detail::cuda::load<kWidth>(p.B + row * p.ldb + column);
        if (p.eta != T{0}) terms.Y = load_once<kWidth>(p.Y + row * p.ldy + column);
      }
      return finish<Storing::streaming>(p, row, column, sum, terms);
    }
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      if (column + i < p.N) finish(p, row, column + i, Lane<T, 1>{{sum[i]}});
    }
  }

  int first_row_;
  bool active_;
  int columns_[kChunks];  ///< the first of each vector in the stripe
  Sums<T, kChunks> sums_[Config::kRows];
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

/// The shape with `stripes` stripes.
template <class T>
StageShape shape_with(const RowBlocksView<T>& A, Index N, Index stripes, int stages, int rows,
                      int chunks) {
  StageShape shape;
  const Index vectors = (N + kVectorWidth<T> - 1) / kVectorWidth<T>;
  shape.lanes = static_cast<int>((vectors + stripes * chunks - 1) / (stripes * chunks));
  shape.stripe = shape.lanes * chunks * kVectorWidth<T>;
  shape.stripes = static_cast<int>((N + shape.stripe - 1) / shape.stripe);
  shape.rows_at_once = (A.rows_per_block + rows - 1) / rows;
  shape.threads = (shape.rows_at_once * shape.lanes + kWarpSize - 1) / kWarpSize * kWarpSize;
  shape.pitch = static_cast<unsigned>(shape.lanes * chunks * kVectorBytes);
  const auto quads = static_cast<unsigned>((A.most_quads + 2) * kQuad);  // one behind the last
  shape.row_bytes = static_cast<unsigned>(A.most_columns) * shape.pitch;
  shape.parts = static_cast<unsigned>(stages) * shape.row_bytes;
  shape.places = quads * static_cast<unsigned>(sizeof(T));
  shape.row_quads = shape.places + quads * 2;
  shape.part_bytes = shape.row_quads + static_cast<unsigned>(A.quad_pitch()) * 2;
  shape.list_bytes = static_cast<unsigned>(A.most_columns + A.rows_per_block) * 4;
  shape.lists = shape.parts + static_cast<unsigned>(stages) * shape.part_bytes;
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
    const int batch = from_environment("HEDDLE_STAGED_BATCH", 2);
    const int chunks = from_environment("HEDDLE_STAGED_CHUNKS", 1);
    dispatch_at_least<1, 2>(stages, [&]<int kStages>() {
      dispatch_at_least<1, 2>(rows, [&]<int kRows>() {
        dispatch_at_least<1, 2>(batch, [&]<int kBatch>() {
          dispatch_at_least<1, 2>(chunks, [&]<int kChunks>() {
            dispatch_terms(product, [&](const auto& p) {
              launch<StagedConfig<kStages, kRows, kBatch, kChunks>>(context, p);
            });
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
    StageShape shape =
        shape_with(A, product.N, stripes, Config::kStages, Config::kRows, Config::kChunks);
    while ((shape.bytes > share || shape.threads > Config::kMostThreads) && stripes < vectors) {
      shape = shape_with(A, product.N, ++stripes, Config::kStages, Config::kRows, Config::kChunks);
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
