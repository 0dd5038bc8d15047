#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/select/pattern_hash.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kBlocks = 1024;

/// Adds the terms of the pattern to `sum`, which is modulo 2⁶⁴, so that their order does not
/// matter.
__global__ __launch_bounds__(kThreads) void pattern_hash_kernel(Index rows, Index nnz,
                                                                const std::int64_t* row_offsets,
                                                                const std::int32_t* columns,
                                                                unsigned long long* sum) {
  const Index thread = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  constexpr Index kStride = Index{kThreads} * kBlocks;
  std::uint64_t own = 0;
  for (Index i = thread; i <= rows; i += kStride) {
    own += hash_term(~static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(row_offsets[i]));
  }
  for (Index k = thread; k < nnz; k += kStride) {
    own += hash_term(static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(columns[k]));
  }
  for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<unsigned long long>(own));
}

}  // namespace

std::uint64_t pattern_hash(CudaContext& context, Index rows, Index nnz,
                           const std::int64_t* row_offsets, const std::int32_t* columns) {
  Buffer<unsigned long long, DeviceSpace> sum(context, 1);
  check(cudaMemsetAsync(sum.data(), 0, sizeof(unsigned long long), context.stream()));
  pattern_hash_kernel<<<kBlocks, kThreads, 0, context.stream()>>>(rows, nnz, row_offsets, columns,
                                                                  sum.data());
  check_launch();
  unsigned long long found = 0;
  context.copy_to_host(&found, sum.data(), sizeof(found));
  return found;
}

}  // namespace heddle::detail::cuda
