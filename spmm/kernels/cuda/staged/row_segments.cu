#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/staged/row_segments.hpp>
#include <vector>

namespace heddle::detail::cuda {
namespace {

/// A thread block adds the parts of one row in a few columns: each of its groups every kGroups-th
/// part, and the first group the sums of the others.
constexpr int kColumns = 16;
constexpr int kGroups = 16;

template <class T>
__global__ __launch_bounds__(kColumns* kGroups) void add_parts_kernel(SpmmProduct<T> p,
                                                                      const SplitRow* split_rows,
                                                                      const T* parts, Index pitch) {
  __shared__ T sums[kGroups][kColumns];
  const SplitRow split = split_rows[blockIdx.x];
  const int lane = threadIdx.x % kColumns;
  const int group = threadIdx.x / kColumns;
  const Index column = static_cast<Index>(blockIdx.y) * kColumns + lane;
  T sum = 0;
  if (column < p.N) {
#pragma unroll 4
    for (Index part = split.first_part + group; part < split.last_part; part += kGroups) {
      sum += parts[part * pitch + column];
    }
  }
  sums[group][lane] = sum;
  __syncthreads();
  if (group > 0 || column >= p.N) return;
#pragma unroll
  for (int g = 1; g < kGroups; ++g) sum += sums[g][lane];
  finish(p, split.row, column, Lane<T, 1>{{sum}});
}

template <class U>
Buffer<U, DeviceSpace> upload(CudaContext& context, const std::vector<U>& host) {
  Buffer<U, DeviceSpace> device(context, host.size());
  if (!host.empty()) context.copy_to_device(device.data(), host.data(), host.size() * sizeof(U));
  return device;
}

}  // namespace

template <class T>
RowSegments::RowSegments(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index length) {
  std::vector<std::int64_t> whole(static_cast<std::size_t>(A.rows + 1));
  context.copy_to_host(whole.data(), A.row_offsets, whole.size() * sizeof(std::int64_t));
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> targets;
  std::vector<SplitRow> split_rows;
  offsets.reserve(whole.size());
  targets.reserve(whole.size());
  for (Index row = 0; row < A.rows; ++row) {
    const Index end = whole[static_cast<std::size_t>(row + 1)];
    const Index entries = end - offsets.back();
    const Index segments = std::max<Index>(1, (entries + length - 1) / length);
    if (segments > 1) split_rows.push_back({row, parts_, parts_ + segments});
    for (Index segment = 1; segment <= segments; ++segment) {
      targets.push_back(static_cast<std::int32_t>(segments == 1 ? row : -2 - parts_++));
      offsets.push_back(segment == segments ? end : offsets.back() + length);
    }
  }
  row_offsets_ = upload(context, offsets);
  targets_ = upload(context, targets);
  split_rows_ = upload(context, split_rows);
}

template <class T>
void RowSegments::add_parts(CudaContext& context, const SpmmProduct<T>& product, const T* parts,
                            Index pitch) const {
  if (split_rows_.size() == 0) return;
  const dim3 grid(static_cast<unsigned>(split_rows_.size()), blocks_for(product.N, kColumns));
  add_parts_kernel<<<grid, kColumns * kGroups, 0, context.stream()>>>(product, split_rows_.data(),
                                                                      parts, pitch);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T)                                                             \
  template RowSegments::RowSegments(CudaContext&, const CsrView<T, DeviceSpace>&, Index); \
  template void RowSegments::add_parts(CudaContext&, const SpmmProduct<T>&, const T*, Index) const;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
