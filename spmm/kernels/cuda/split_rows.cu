#include <algorithm>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/split_rows.hpp>

namespace heddle::detail::cuda {
namespace {

/// A thread block adds the parts of one row in kColumns columns: each of its groups of threads
/// every kGroups-th part, and then half of the groups the sums of the other half, until one is
/// left.
template <int kColumns, class T>
__global__ __launch_bounds__(kThreads) void add_parts_kernel(SpmmProduct<T> p, const SplitRow* rows,
                                                             RowParts<T> parts) {
  constexpr int kGroups = kThreads / kColumns;
  __shared__ Lane<T, 1> sums[kGroups][kColumns];
  const SplitRow split = rows[blockIdx.x];
  const int lane = threadIdx.x % kColumns;
  const int group = threadIdx.x / kColumns;
  const Index column = static_cast<Index>(blockIdx.y) * kColumns + lane;
  wait_for_previous_kernel();
  Lane<T, 1> sum;
  if (column < p.N) {
#pragma unroll 4
    for (Index part = split.first_part + group; part < split.last_part; part += kGroups) {
      add(load<1>(parts.sums + part * parts.pitch + column), sum);
    }
  }
  sums[group][lane] = sum;
  for (int half = kGroups / 2; half > 0; half /= 2) {
    __syncthreads();
    if (group < half) add(sums[group + half][lane], sums[group][lane]);
  }
  if (group == 0 && column < p.N) finish(p, split.row, column, Lane<T, 1>{sums[0][lane]});
}

}  // namespace

template <class T>
void launch_add_parts(CudaContext& context, const SpmmProduct<T>& product,
                      const Buffer<SplitRow, DeviceSpace>& rows, const RowParts<T>& parts) {
  if (rows.size() == 0) return;
  constexpr Index kMostColumns = 16;
  dispatch_at_least<1, 4, kMostColumns>(
      static_cast<int>(std::min(product.N, kMostColumns)), [&]<int kColumns>() {
        const dim3 grid(static_cast<unsigned>(rows.size()), blocks_for(product.N, kColumns));
        launch_dependent(add_parts_kernel<kColumns, T>, {grid, kThreads}, context.stream(), product,
                         rows.data(), parts);
      });
}

#define HEDDLE_INSTANTIATE(T)                                         \
  template void launch_add_parts(CudaContext&, const SpmmProduct<T>&, \
                                 const Buffer<SplitRow, DeviceSpace>&, const RowParts<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
