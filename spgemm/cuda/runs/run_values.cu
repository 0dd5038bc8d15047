#include <cuda_pipeline.h>

#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>
#include <heddle/spgemm/cuda/runs/run_values.cuh>
#include <heddle/spgemm/cuda/teams/row_team.cuh>

namespace heddle::detail {
namespace {

/// The distance between the sums of one entry of C and those of the next one, for kWarp rows: odd,
/// so that the lanes reach different banks along both.
constexpr int kSumStride = kWarp + 1;

/// Values per row of B that a chunk stages in shared memory. Longer rows are read in place.
constexpr Index kMostStaged = 64;

extern __shared__ __align__(16) char shared_memory[];

/// Steps through a range of numbers t = 32·step + lane as (row, column) = (t / width, t mod width).
struct RowStepper {
  int row = 0;
  int column;
  int width;

  __device__ explicit RowStepper(int row_width) : column(lane_index()), width(row_width) { wrap(); }
  __device__ void next() {
    column += kWarp;
    wrap();
  }
  __device__ void wrap() {
    while (column >= width) {
      column -= width;
      ++row;
    }
  }
};

/// sums(p_e, lane) += factor · terms[e] for e = 0 … count − 1. The place p_e is with lane e.
template <class T>
__device__ void add_terms(T* sums, int places, int count, T factor, const T* terms) {
  constexpr int kAtOnce = 8;  // the sums of one row of B are different ones
  int e = 0;
  for (; e + kAtOnce <= count; e += kAtOnce) {
    T* at[kAtOnce];
    T sum[kAtOnce];
    T term[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      at[u] = sums + __shfl_sync(kAllLanes, places, e + u) * kSumStride;
      sum[u] = *at[u];
      term[u] = terms[e + u];
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) *at[u] = sum[u] + factor * term[u];
  }
#pragma unroll 4
  for (; e < count; ++e) {
    sums[__shfl_sync(kAllLanes, places, e) * kSumStride] += factor * terms[e];
  }
}

/// A chunk's data for one factor of its rows: the rows of B that begin with row k.
template <class T>
struct RunFactor {
  T factor{0};          ///< that of this lane's row of A
  Index from = 0;       ///< the first entry of row k of B
  int terms = 0;        ///< entries per row
  std::int32_t column;  ///< of entry `lane` of row k

  __device__ int pitch() const { return terms | 1; }  ///< odd, so that lanes reach all banks
};

/// The factors of a chunk of `height` rows from row `first` of A on.
template <class T>
class RunFactors {
 public:
  __device__ RunFactors(const CsrView<T, DeviceSpace>& A, const CsrView<T, DeviceSpace>& B,
                        Index row, int height)
      : A_(A), B_(B), first_(A.row_offsets[row]), height_(height) {
    count_ = static_cast<int>(A.row_offsets[row + 1] - first_);
    const int lane = lane_index();
    mine_ = first_ + Index{lane < height ? lane : height - 1} * count_;
  }

  __device__ int count() const { return count_; }

  /// Loads factor a, and begins to copy the rows of B to `stage` if they are short enough.
  __device__ RunFactor<T> load(int a, T* stage, int staged) {
    RunFactor<T> next;
    if (a < count_) {
      const std::int32_t k = A_.columns[first_ + a];
      next.factor = A_.values[mine_ + a];
      next.from = B_.row_offsets[k];
      next.terms = static_cast<int>(B_.row_offsets[k + 1] - next.from);
      if (lane_index() < next.terms) next.column = B_.columns[next.from + lane_index()];
      if (next.terms > 0 && next.pitch() <= staged) {
        RowStepper step(next.terms);
        for (int t = lane_index(); t < height_ * next.terms; t += kWarp, step.next()) {
          __pipeline_memcpy_async(stage + step.row * next.pitch() + step.column,
                                  B_.values + next.from + t, sizeof(T));
        }
      }
    }
    __pipeline_commit();
    return next;
  }

 private:
  const CsrView<T, DeviceSpace>& A_;
  const CsrView<T, DeviceSpace>& B_;
  Index first_;
  Index mine_;
  int height_;
  int count_;
};

/// Writes the values of `height` rows of C with `entries` each, which follow each other. Where
/// `all_columns` is not null, it writes the columns of the rows from `first_moved` on: those of the
/// first row, plus 1 per row.
template <class T>
__device__ void write_rows(const T* sums, const std::int32_t* columns, int height, int entries,
                           T* values, std::int32_t* all_columns, int first_moved) {
  constexpr int kAtOnce = 4;
  RowStepper step(entries);
  for (int t = lane_index(); t < height * entries; t += kAtOnce * kWarp) {
    T value[kAtOnce];
    std::int32_t column[kAtOnce];
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (t + u * kWarp < height * entries) {
        value[u] = sums[step.column * kSumStride + step.row];
        column[u] = columns[step.column] + step.row;
      }
      step.next();
    }
#pragma unroll
    for (int u = 0; u < kAtOnce; ++u) {
      if (t + u * kWarp >= height * entries) continue;
      values[t + u * kWarp] = value[u];
      if (all_columns != nullptr && t + u * kWarp >= first_moved * entries) {
        all_columns[t + u * kWarp] = column[u];
      }
    }
  }
}

/// A chunk of a run of rows of C per warp, one row per lane. All rows take their terms from the
/// same places of A, B and C, counted from the beginnings of their own rows. The rows of B for the
/// next factor are copied while those for this one are added.
template <class T>
__global__ void run_kernel(CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B, Runs runs,
                           const std::int32_t* rows, int capacity, int staged, ProductTarget<T> C,
                           bool with_columns) {
  const BesideOthers beside;
  const int lane = lane_index();
  const Index row = rows[blockIdx.x];
  const int height = static_cast<int>(chunk_of(runs, row).rows);
  const Index begin = C.row_offsets[row];
  const int entries = static_cast<int>(C.row_offsets[row + 1] - begin);
  T* sums = reinterpret_cast<T*>(shared_memory);
  T* stage = sums + capacity * kSumStride;
  std::int32_t* columns = reinterpret_cast<std::int32_t*>(stage + 2 * kWarp * staged);
  RunFactors<T> factors(A, B, row, height);
  RunFactor<T> next = factors.load(0, stage, staged);
  const int moved = runs.places[row];
  const std::int32_t* pattern = C.columns + C.row_offsets[row - moved];
  for (int j = lane; j < entries; j += kWarp) columns[j] = pattern[j] + moved;
  for (int j = 0; j < entries; ++j) sums[j * kSumStride + lane] = T{0};
  const int mine = lane < height ? lane : height - 1;
  for (int a = 0; a < factors.count(); ++a) {
    const RunFactor<T> now = next;
    T* const here = stage + a % 2 * kWarp * staged;
    next = factors.load(a + 1, stage + (a + 1) % 2 * kWarp * staged, staged);
    __pipeline_wait_prior(1);
    __syncwarp();
    const bool in_stage = now.pitch() <= staged;
    const T* term = B.values + now.from + Index{mine} * now.terms;
    for (int e = 0; e < now.terms; e += kWarp) {
      int place = 0;
      if (e + lane < now.terms) {
        const std::int32_t column = e == 0 ? now.column : B.columns[now.from + e + lane];
        place = count_below(columns, entries, column);
        place = place < entries ? place : entries - 1;
      }
      const int count = now.terms - e < kWarp ? now.terms - e : kWarp;
      if (in_stage) {
        add_terms(sums + lane, place, count, now.factor, here + mine * now.pitch() + e);
      } else {
        add_terms(sums + lane, place, count, now.factor, term + e);
      }
    }
    __syncwarp();
  }
  write_rows(sums, columns, height, entries, C.values + begin,
             with_columns ? C.columns + begin : nullptr, moved == 0 ? 1 : 0);
}

}  // namespace

template <Scalar T>
void compute_runs(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                  const CsrView<T, DeviceSpace>& B, const std::int32_t* rows, Index count,
                  const Runs& runs, Index longest_of_B, int capacity, const ProductTarget<T>& C,
                  bool with_columns) {
  const int staged = static_cast<int>(std::min(longest_of_B, kMostStaged)) | 1;
  const auto numbers = static_cast<std::size_t>(capacity * kSumStride + 2 * kWarp * staged);
  const std::size_t bytes =
      numbers * sizeof(T) + static_cast<std::size_t>(capacity) * sizeof(std::int32_t);
  group.launch<kWarp>(run_kernel<T>, count, kWarp, bytes, A, B, runs, rows, capacity, staged, C,
                      with_columns);
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template void compute_runs(LaunchGroup&, const CsrView<T, DeviceSpace>&,               \
                             const CsrView<T, DeviceSpace>&, const std::int32_t*, Index, \
                             const Runs&, Index, int, const ProductTarget<T>&, bool);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
