#pragma once

#include <cstdint>
#include <heddle/linalg/context/kernel.cuh>

/// Shared by the kernels behind `multiply` and `multiply_with_residual`: tiles of Y = α X C, a warp
/// per 16 rows, on the matrix units.
namespace heddle {

constexpr int kTileRows = 16;  ///< rows that a warp computes at a time
constexpr int kStep = 8;       ///< columns of X that one step of the matrix units multiplies
constexpr int kBatch = 4;      ///< steps whose loads are in flight together

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

/// The column of X, within a step, that lane t of four multiplies in half h. The order of the
/// columns is free, as long as C has the same.
template <Access kAccess>
__device__ int column_of(int t, int h) {
  return kAccess == Access::paired ? 2 * t + h : t + 4 * h;
}

/// Copies αC to shared memory in the order in which lanes read it: for each step and unit, the
/// fragments B(t, g) and B(t + 4, g). Entries outside of C are 0.
template <int kUnits, Access kAccess, class T>
__device__ void stage_coefficients(const MultiplyArguments<T>& m, int steps, double* staged) {
  const int count = steps * kUnits * 2 * kWarp;
  for (int index = static_cast<int>(threadIdx.x); index < count; index += kThreads) {
    const int lane = index % kWarp;
    const int half = index / kWarp % 2;
    const int unit = index / (2 * kWarp) % kUnits;
    const int step = index / (2 * kWarp * kUnits);
    const int k = step * kStep + column_of<kAccess>(lane % 4, half);
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
  if constexpr (kAccess == Access::paired) {
    const int k = first + 2 * t;
    const Pair<T> a = load_pair<kAccess>(low, k, i < m.rows ? m.a : 0);
    const Pair<T> b = load_pair<kAccess>(high, k, i + 8 < m.rows ? m.a : 0);
    x[0] = a.first;
    x[1] = b.first;
    x[2] = a.second;
    x[3] = b.second;
  } else {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int k = first + column_of<kAccess>(t, half);
      x[2 * half] = k < m.a && i < m.rows ? low[k] : T{0};
      x[2 * half + 1] = k < m.a && i + 8 < m.rows ? high[k] : T{0};
    }
  }
}

/// sum += a lane's part of a warp's 16 rows of α X C, which begin with row `first`.
template <int kUnits, Access kAccess, class T>
__device__ void add_tile(const MultiplyArguments<T>& m, Index first, int steps, int lane,
                         const double* staged, double (&sum)[kUnits][4]) {
  const int t = lane % 4;
  for (int step = 0; step < steps; step += kBatch) {
    T x[kBatch][4];
#pragma unroll
    for (int s = 0; s < kBatch; ++s) {
      load_step<kAccess>(m, first + lane / 4, (step + s) * kStep, t, x[s]);
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
}

/// Y ← a lane's part of the tile. The warp has read the rows of all operands before, so Y may share
/// memory with them.
template <int kUnits, Access kAccess, class T>
__device__ void store_tile(const MultiplyArguments<T>& m, Index first, int lane,
                           const double (&sum)[kUnits][4]) {
  const int t = lane % 4;
#pragma unroll
  for (int u = 0; u < kUnits; ++u) {
#pragma unroll
    for (int high = 0; high < 2; ++high) {
      const Index row = first + lane / 4 + 8 * high;
      if (row >= m.rows) continue;
      store_pair<kAccess>(
          m.Y + row * m.Y_ld, 8 * u + 2 * t, m.b,
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

/// Bytes of shared memory for the coefficients of `a` columns of X and 8·`units` columns of Y.
inline std::size_t staged_bytes(Index a, Index units) {
  return sizeof(double) * static_cast<std::size_t>(ceil_div<Index>(a, kStep) * units * 2 * kWarp);
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

}  // namespace heddle
