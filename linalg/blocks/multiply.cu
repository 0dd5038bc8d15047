#include <cstdint>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

constexpr int kTileRows = 16;  ///< rows that a warp computes at a time
constexpr int kStep = 8;       ///< columns of X that one step of the matrix units multiplies
constexpr int kBatch = 4;      ///< steps whose loads are in flight together
constexpr int kMaxUnits = 16;  ///< largest number of columns of Y per launch, divided by 8

template <class T>
struct MultiplyArguments {
  Index rows;
  int a;
  int b;
  double alpha;
  const T* X;
  Index X_ld;
  const double* C;
  Index C_ld;
  double beta;
  const T* W;
  Index W_ld;
  T* Y;
  Index Y_ld;
};

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first;
  T second;
};

/// How rows are loaded and stored. Paired: two neighbouring entries at once, which needs blocks of
/// even widths, aligned to two entries.
enum class Access { single, paired };

/// The column of X, within a step, that lane t of four multiplies in half h. It is the same for
/// both kinds of access, so that sums have the same bits wherever the operands lie.
__device__ int column_of(int t, int h) { return 2 * t + h; }

/// Copies αC to shared memory in the order in which lanes read it: for each step and unit, the
/// fragments B(t, g) and B(t + 4, g). Entries outside of C are 0.
template <int kUnits, class T>
__device__ void stage_coefficients(const MultiplyArguments<T>& m, int steps, double* staged) {
  const int count = steps * kUnits * 2 * kWarp;
  for (int index = static_cast<int>(threadIdx.x); index < count; index += kThreads) {
    const int lane = index % kWarp;
    const int half = index / kWarp % 2;
    const int unit = index / (2 * kWarp) % kUnits;
    const int step = index / (2 * kWarp * kUnits);
    const int k = step * kStep + column_of(lane % 4, half);
    const int j = unit * 8 + lane / 4;
    staged[index] = k < m.a && j < m.b ? m.alpha * m.C[k + j * m.C_ld] : 0;
  }
}

/// Entries j and j + 1 of a row, of which those from `cols` on are 0.
template <Access kAccess, class T>
__device__ Pair<T> load_pair(const T* row, int j, int cols) {
  if constexpr (kAccess == Access::paired) {
    return j < cols ? *reinterpret_cast<const Pair<T>*>(row + j) : Pair<T>{T{0}, T{0}};
  } else {
    return {j < cols ? row[j] : T{0}, j + 1 < cols ? row[j + 1] : T{0}};
  }
}

template <Access kAccess, class T>
__device__ void store_pair(T* row, int j, int cols, Pair<T> pair) {
  if constexpr (kAccess == Access::paired) {
    if (j < cols) *reinterpret_cast<Pair<T>*>(row + j) = pair;
  } else {
    if (j < cols) row[j] = pair.first;
    if (j + 1 < cols) row[j + 1] = pair.second;
  }
}

/// A lane's operands of a step: X(i, ·) in entries 0 and 2, X(i + 8, ·) in 1 and 3. Entries outside
/// of the block are 0.
template <Access kAccess, class T>
__device__ void load_step(const MultiplyArguments<T>& m, Index i, int first, int t, T (&x)[4]) {
  const T* low = m.X + i * m.X_ld;
  const T* high = low + 8 * m.X_ld;
  const int k = first + column_of(t, 0);
  const Pair<T> a = load_pair<kAccess>(low, k, i < m.rows ? m.a : 0);
  const Pair<T> b = load_pair<kAccess>(high, k, i + 8 < m.rows ? m.a : 0);
  x[0] = a.first;
  x[1] = b.first;
  x[2] = a.second;
  x[3] = b.second;
}

/// Computes a warp's 16 rows of Y. The warp reads a row of X and W completely before it writes that
/// row of Y, so Y may share memory with X and may be W.
template <int kUnits, Access kAccess, class T>
__device__ void multiply_rows(const MultiplyArguments<T>& m, Index first, int steps, int lane,
                              const double* staged) {
  const int t = lane % 4;
  const Index rows[2] = {first + lane / 4, first + lane / 4 + 8};
  double sum[kUnits][4] = {};
  if (m.beta != 0) {
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
#pragma unroll
      for (int high = 0; high < 2; ++high) {
        const Pair<T> w = load_pair<kAccess>(m.W + rows[high] * m.W_ld, 8 * u + 2 * t,
                                             rows[high] < m.rows ? m.b : 0);
        sum[u][2 * high] = m.beta * static_cast<double>(w.first);
        sum[u][2 * high + 1] = m.beta * static_cast<double>(w.second);
      }
    }
  }
  for (int step = 0; step < steps; step += kBatch) {
    T x[kBatch][4];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      load_step<kAccess>(m, rows[0], (step + s) * kStep, t, x[s]);
    }
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      if (step + s >= steps) break;
      const double a[4] = {static_cast<double>(x[s][0]), static_cast<double>(x[s][1]),
                           static_cast<double>(x[s][2]), static_cast<double>(x[s][3])};
      const double* fragments = staged + (step + s) * kUnits * 2 * kWarp + lane;
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        const double b[2] = {fragments[2 * u * kWarp], fragments[(2 * u + 1) * kWarp]};
        multiply_add_16x8x8(sum[u], a, b);
      }
    }
  }
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
#pragma unroll
    for (int high = 0; high < 2; ++high) {
      if (rows[high] >= m.rows) continue;
      store_pair<kAccess>(
          m.Y + rows[high] * m.Y_ld, 8 * u + 2 * t, m.b,
          Pair<T>{static_cast<T>(sum[u][2 * high]), static_cast<T>(sum[u][2 * high + 1])});
    }
  }
}

/// Thread blocks that a multiprocessor has registers for. On an H200, three are faster for floats
/// and slower for doubles.
template <int kUnits, class T>
constexpr int kResidentBlocks = kUnits > 8                      ? 1
                                : sizeof(T) == 4 && kUnits <= 5 ? 3
                                                                : 2;

/// Y = α X C + β W for up to 8·kUnits columns of Y, with all of C in shared memory.
template <int kUnits, Access kAccess, class T>
__global__ void __launch_bounds__(kThreads, kResidentBlocks<kUnits, T>)
    multiply_kernel(MultiplyArguments<T> m) {
  extern __shared__ double staged[];
  const int steps = ceil_div(m.a, kStep);
  stage_coefficients<kUnits>(m, steps, staged);
  __syncthreads();
  constexpr int kWarps = kThreads / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const Index warp = Index{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  for (Index first = warp * kTileRows; first < m.rows;
       first += Index{gridDim.x} * kWarps * kTileRows) {
    multiply_rows<kUnits, kAccess>(m, first, steps, lane, staged);
  }
}

std::size_t staged_bytes(Index a, Index units) {
  return sizeof(double) * static_cast<std::size_t>(ceil_div<Index>(a, kStep) * units * 2 * kWarp);
}

template <int kUnits, Access kAccess, class T>
void launch_multiply(CudaContext& context, const MultiplyArguments<T>& m) {
  constexpr std::size_t kDefaultShared = 48 * 1024;
  const auto kernel = multiply_kernel<kUnits, kAccess, T>;
  const std::size_t shared = staged_bytes(m.a, kUnits);
  if (shared > kDefaultShared) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared)));
  }
  const Index fitting = static_cast<Index>(context.device().shared_bytes_per_block /
                                           std::max<std::size_t>(shared, 1));
  const Index resident = std::clamp<Index>(fitting, 1, kResidentBlocks<kUnits, T>);
  const Index blocks = std::min(ceil_div<Index>(m.rows, kThreads / kWarp * kTileRows),
                                resident * context.device().multiprocessors);
  kernel<<<static_cast<unsigned>(blocks), kThreads, shared, context.stream()>>>(m);
  check_launch();
}

template <class T>
using Launcher = void (*)(CudaContext&, const MultiplyArguments<T>&);

/// The launcher for 8·`units` columns of Y.
template <Access kAccess, class T>
Launcher<T> launcher(Index units) {
  if (units <= 1) return launch_multiply<1, kAccess, T>;
  if (units <= 2) return launch_multiply<2, kAccess, T>;
  if (units <= 3) return launch_multiply<3, kAccess, T>;
  if (units <= 4) return launch_multiply<4, kAccess, T>;
  if (units <= 5) return launch_multiply<5, kAccess, T>;
  if (units <= 6) return launch_multiply<6, kAccess, T>;
  if (units <= 8) return launch_multiply<8, kAccess, T>;
  if (units <= 12) return launch_multiply<12, kAccess, T>;
  return launch_multiply<kMaxUnits, kAccess, T>;
}

/// Whether the operands allow paired access.
template <class T>
bool allows_pairs(const MultiplyArguments<T>& m) {
  const auto aligned = [](const T* data, Index ld) {
    return ld % 2 == 0 && reinterpret_cast<std::uintptr_t>(data) % sizeof(Pair<T>) == 0;
  };
  return m.a % 2 == 0 && m.b % 2 == 0 && aligned(m.X, m.X_ld) && aligned(m.Y, m.Y_ld) &&
         (m.beta == 0 || aligned(m.W, m.W_ld));
}

/// The most columns of X for which C, with 8·kMaxUnits columns, fits in shared memory.
Index max_inner(const CudaContext& context) {
  return static_cast<Index>(context.device().shared_bytes_per_block / staged_bytes(1, kMaxUnits)) *
         kStep;
}

/// Y = α X C + β W by as many launches as C needs to fit in shared memory. With more than one
/// launch, Y must not share memory with X.
template <class T>
void multiply_by_parts(CudaContext& context, const MultiplyArguments<T>& m) {
  const Index inner = max_inner(context);
  for (Index j = 0; j < m.b; j += 8 * kMaxUnits) {
    for (Index k = 0; k == 0 || k < m.a; k += inner) {
      MultiplyArguments<T> part = m;
      part.a = static_cast<int>(std::min<Index>(inner, m.a - k));
      part.b = static_cast<int>(std::min<Index>(8 * kMaxUnits, m.b - j));
      part.X = m.X + k;
      part.C = m.C + k + j * m.C_ld;
      part.beta = k == 0 ? m.beta : 1;
      part.W = k == 0 ? m.W + j : m.Y + j;
      part.W_ld = k == 0 ? m.W_ld : m.Y_ld;
      part.Y = m.Y + j;
      const Index units = ceil_div(part.b, 8);
      const bool pairs = allows_pairs(part);
      const auto launch =
          pairs ? launcher<Access::paired, T>(units) : launcher<Access::single, T>(units);
      launch(context, part);
    }
  }
}

template <class T>
bool share_memory(ConstBlockView<T, DeviceSpace> X, ConstBlockView<T, DeviceSpace> Y) {
  const auto end = [](const auto& Z) { return Z.data() + (Z.rows() - 1) * Z.ld() + Z.cols(); };
  return X.data() < end(Y) && Y.data() < end(X);
}

/// The same if Y shares memory with X. It multiplies a copy of X, of a bounded number of rows at a
/// time.
template <class T>
void multiply_from_copy(CudaContext& context, const MultiplyArguments<T>& m) {
  constexpr Index kCopyBytes = Index{64} << 20;
  const Index height =
      std::min<Index>(m.rows, std::max<Index>(1, kCopyBytes / (m.a * Index{sizeof(T)})));
  T* rows = static_cast<T*>(context.scratch(sizeof(T) * static_cast<std::size_t>(height * m.a)));
  for (Index first = 0; first < m.rows; first += height) {
    MultiplyArguments<T> part = m;
    part.rows = std::min(height, m.rows - first);
    part.X = rows;
    part.X_ld = m.a;
    part.W = m.W + first * m.W_ld;
    part.Y = m.Y + first * m.Y_ld;
    copy<T>(context, {m.X + first * m.X_ld, part.rows, m.a, m.X_ld}, {rows, part.rows, m.a, m.a});
    multiply_by_parts(context, part);
  }
}

}  // namespace

template <RealScalar T>
void multiply(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X,
              ConstSmallView<double, DeviceSpace> C, double beta, ConstBlockView<T, DeviceSpace> W,
              BlockView<T, DeviceSpace> Y) {
  require_multiply_shapes(X, C, Y);
  require_same_shape<T, DeviceSpace>("multiply", W, Y);
  if (Y.empty()) return;
  const MultiplyArguments<T> m{X.rows(),
                               static_cast<int>(X.cols()),
                               static_cast<int>(Y.cols()),
                               alpha,
                               X.data(),
                               X.ld(),
                               C.data,
                               C.ld,
                               beta,
                               W.data(),
                               W.ld(),
                               Y.data(),
                               Y.ld()};
  const bool one_launch = m.b <= 8 * kMaxUnits && m.a <= max_inner(context);
  if (!one_launch && share_memory<T>(X, Y)) {
    multiply_from_copy(context, m);
  } else {
    multiply_by_parts(context, m);
  }
  const double outputs = bytes<T, DeviceSpace>(Y);
  context.profile().count(bytes(X) + (beta == 0 ? outputs : 2 * outputs),
                          2 * entries(X) * static_cast<double>(Y.cols()));
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template void multiply(CudaContext&, double, ConstBlockView<T, DeviceSpace>, \
                         ConstSmallView<double, DeviceSpace>, double,          \
                         ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
