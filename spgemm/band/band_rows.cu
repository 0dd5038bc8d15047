#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spgemm/band/schedule.hpp>

namespace heddle::detail {
namespace {

/// Shared memory of a thread block with which four of them fit on a multiprocessor.
constexpr Index kStagedBytes = 48 * 1024;

/// Rows of B that a thread block needs, from row `first` + least_shift on.
struct StagedRows {
  Index least_shift = 0;
  Index height = 0;
  Index diagonals = 0;
};

/// One row of C per thread, diagonal by diagonal. With `kStaged`, the rows of B that the block
/// needs come to shared memory before, as in algorithm 4 of Matam et al.; else they are read
/// through the first-level cache.
template <bool kStaged, class T>
__global__ __launch_bounds__(kThreads) void band_kernel(BandProduct<T> p, StagedRows staged,
                                                        Index first, Index last) {
  extern __shared__ double memory[];
  T* const rows_of_B = reinterpret_cast<T*>(memory);
  const Index begin = first + Index{blockIdx.x} * kThreads;
  const Index begin_of_B = begin + staged.least_shift;
  if constexpr (kStaged) {
    for (Index d = 0; d < staged.diagonals; ++d) {
      for (Index s = threadIdx.x; s < staged.height; s += kThreads) {
        const Index k = begin_of_B + s;
        rows_of_B[d * staged.height + s] =
            k >= 0 && k < p.inner ? __ldg(p.B + d * p.ld_B + k) : T{0};
      }
    }
    __syncthreads();
  }
  const Index row = begin + threadIdx.x;
  if (row >= last) return;
  for (Index c = 0; c < p.diagonals; ++c) {
    T sum{0};
    const Index end = __ldg(p.begins + c + 1);
#pragma unroll 4
    for (Index n = __ldg(p.begins + c); n < end; ++n) {
      const DiagonalPair pair = p.pairs[n];
      const Index k = row + pair.shift;
      const T a = __ldg(p.A + pair.A * p.ld_A + row);
      if constexpr (kStaged) {
        sum += a * rows_of_B[pair.B * staged.height + (k - begin_of_B)];
      } else if (k >= 0 && k < p.inner) {
        sum += a * __ldg(p.B + pair.B * p.ld_B + k);
      }
    }
    __stcs(p.C + c * p.ld_C + row, sum);
  }
}

}  // namespace

template <Scalar T>
void multiply_bands(CudaContext& context, const BandSchedule<DeviceSpace>& schedule,
                    const BandProduct<T>& product, Index first, Index last) {
  const StagedRows staged{schedule.least_shift,
                          kThreads + schedule.most_shift - schedule.least_shift,
                          schedule.diagonals_B};
  const Index bytes = staged.height * staged.diagonals * static_cast<Index>(sizeof(T));
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(last - first, kThreads));
  if (bytes <= kStagedBytes) {
    band_kernel<true><<<blocks, kThreads, static_cast<std::size_t>(bytes), context.stream()>>>(
        product, staged, first, last);
  } else {
    band_kernel<false><<<blocks, kThreads, 0, context.stream()>>>(product, staged, first, last);
  }
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template void multiply_bands(CudaContext&, const BandSchedule<DeviceSpace>&, \
                               const BandProduct<T>&, Index, Index);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
