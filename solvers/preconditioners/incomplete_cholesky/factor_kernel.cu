#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/solvers/preconditioners/incomplete_cholesky/factor_kernel.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/triangular/row_signals.cuh>

namespace heddle::detail::cuda {
namespace {

constexpr int kRows = kThreads / kWarp;  // per block

/// The number of entries of a row that fit into shared memory. Longer rows stay in global memory.
constexpr int kCached = 128;

/// Row j is searched for the columns of row i, not row i for those of row j, if it is this many
/// times longer. Searches in global memory take longer than reading a row once.
constexpr int kMuchLonger = 16;

/// Nanoseconds between two looks at the flags of rows that are not finished.
constexpr unsigned kPause = 100;

/// The matrix to be factored and the signals of its rows.
template <class W>
struct Factorisation {
  Index rows;
  const std::int64_t* offsets;
  const std::int32_t* columns;
  W* values;
  const std::int32_t* order;  // the rows in the order of their levels
  double shift;
  std::uint32_t* failed;  // not 0 once a pivot is not acceptable
  RowSignals signals;
};

/// A row's first entries in a block's memory. `__shared__` takes no type with a constructor, hence
/// the bytes.
template <class W>
struct RowCache {
  std::int32_t columns[kCached];
  alignas(W) char values[kCached * sizeof(W)];
};

/// Entries with ascending columns.
template <class W>
struct Entries {
  const std::int32_t* columns;
  const W* values;
  int length;
};

/// This lane's part of Σ_k a_k conj(b_k) over the columns k that both have. The lanes take the
/// entries of `walked` cyclically and search `searched` for their columns.
template <class W>
__device__ W common_products(const Entries<W>& walked, const Entries<W>& searched) {
  W sum{};
  for (int p = lane_index(); p < walked.length; p += kWarp) {
    const std::int32_t column = walked.columns[p];
    const int q = count_below(searched.columns, searched.length, column);
    if (q < searched.length && searched.columns[q] == column) {
      multiply_add(walked.values[p], conjugate(searched.values[q]), sum);
    }
  }
  return sum;
}

/// The sum over the lanes of a warp, with the same bits in each.
template <class W>
__device__ W sum_of_lanes(W sum) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) {
    add(by_parts(sum, [&](auto part) { return __shfl_xor_sync(kFullWarp, part, step); }), sum);
  }
  return sum;
}

/// An entry (i, j) off the diagonal that a lane holds: its value, and what row j consists of.
template <class W>
struct HeldEntry {
  std::int32_t row = 0;  // j
  std::int64_t begin = 0;
  int length = 0;  // of row j off its diagonal
  W value{};
  bool waits = false;  // for row j

  __device__ HeldEntry(const Factorisation<W>& f, std::int64_t e, bool exists) : waits(exists) {
    if (!exists) return;
    row = __ldg(f.columns + e);
    begin = __ldg(f.offsets + row);
    length = static_cast<int>(__ldg(f.offsets + row + 1) - begin) - 1;
    value = f.values[e];
  }
};

/// Waits until the row of lane k's entry is finished. The other lanes look at their rows meanwhile.
template <class W>
__device__ void wait_for(const Factorisation<W>& f, HeldEntry<W>& held, int k) {
  for (bool again = false; (__ballot_sync(kFullWarp, held.waits) >> k & 1u) != 0; again = true) {
    if (again) __nanosleep(kPause);
    if (held.waits) held.waits = !is_signalled(f.signals, held.row);
  }
  // All lanes may now read the row that one lane has seen finished, and the entries of their own
  // row that other lanes have stored.
  __syncwarp();
}

/// Computes row i. All lanes of a warp call it together.
template <class W>
__device__ void factor_row(const Factorisation<W>& f, Index i, RowCache<W>& cache) {
  const std::int64_t begin = f.offsets[i];
  const auto length = static_cast<int>(f.offsets[i + 1] - begin) - 1;
  const bool fits = length <= kCached;
  const std::int32_t* columns = fits ? cache.columns : f.columns + begin;
  W* values = fits ? reinterpret_cast<W*>(cache.values) : f.values + begin;
  if (fits) {
    for (int p = lane_index(); p < length; p += kWarp) cache.columns[p] = f.columns[begin + p];
  }
  double pivot = 1 + f.shift;
  for (int first = 0; first < length; first += kWarp) {
    const std::int64_t e = begin + first + lane_index();
    const bool exists = first + lane_index() < length;
    HeldEntry<W> held(f, e, exists);
    for (int k = 0; k < min(kWarp, length - first); ++k) {
      wait_for(f, held, k);
      const std::int64_t other = __shfl_sync(kFullWarp, held.begin, k);
      const Entries<W> theirs{f.columns + other, f.values + other,
                              __shfl_sync(kFullWarp, held.length, k)};
      const Entries<W> own{columns, values, first + k};
      const double diagonal = real_part(theirs.values[theirs.length]);
      const bool much_longer = theirs.length > kMuchLonger * max(own.length, kWarp);
      const W sum = sum_of_lanes(much_longer ? common_products(own, theirs)
                                             : conjugate(common_products(theirs, own)));
      W l = by_parts(held.value, [&](auto part) { return __shfl_sync(kFullWarp, part, k); });
      add(-sum, l);
      l = by_parts(l, [&](auto part) { return part / diagonal; });
      pivot -= squared(l);
      if (lane_index() == k) values[first + k] = held.value = l;
    }
    if (fits && exists) f.values[e] = held.value;
  }
  if (lane_index() != 0) return;
  if (!(pivot > kSmallestPivot)) {
    SharedNumber<std::uint32_t>(*f.failed).store(1, ::cuda::memory_order_relaxed);
  }
  f.values[begin + length] = W(sqrt(pivot));
}

/// Once a pivot has failed, rows are signalled without being computed, so that none waits for ever.
template <class W>
__global__ __launch_bounds__(kThreads) void factor_kernel(Factorisation<W> f) {
  __shared__ RowCache<W> caches[kRows];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const Index position = place_of_block(f.signals) * kRows + warp;
  if (position >= f.rows) return;
  const Index i = f.order[position];
  const bool failed =
      SharedNumber<std::uint32_t>(*f.failed).load(::cuda::memory_order_relaxed) != 0;
  if (!__any_sync(kFullWarp, failed)) factor_row(f, i, caches[warp]);
  __syncwarp();  // all of the row is stored before the flag is set
  if (lane_index() == 0) signal_row(f.signals, i);
}

}  // namespace

template <WideScalar W>
bool factor_in_place(CudaContext& context, CsrMatrix<W, DeviceSpace>& L,
                     const Buffer<std::int32_t, DeviceSpace>& rows, double shift, RowFlags& flags) {
  if (L.rows() == 0) return true;
  Buffer<std::uint32_t, DeviceSpace> failed(context, 1);
  check(cudaMemsetAsync(failed.data(), 0, sizeof(std::uint32_t), context.stream()));
  const unsigned blocks = blocks_for(L.rows(), kRows);
  const Factorisation<W> factorisation{
      L.rows(),    L.row_offsets(), L.columns(),   L.values(),
      rows.data(), shift,           failed.data(), flags.next(context, blocks)};
  factor_kernel<<<blocks, kThreads, 0, context.stream()>>>(factorisation);
  check_launch();
  std::uint32_t found = 0;
  context.copy_to_host(&found, failed.data(), sizeof found);
  return found == 0;
}

template bool factor_in_place(CudaContext&, CsrMatrix<double, DeviceSpace>&,
                              const Buffer<std::int32_t, DeviceSpace>&, double, RowFlags&);
template bool factor_in_place(CudaContext&, CsrMatrix<std::complex<double>, DeviceSpace>&,
                              const Buffer<std::int32_t, DeviceSpace>&, double, RowFlags&);

}  // namespace heddle::detail::cuda
