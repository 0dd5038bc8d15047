#pragma once

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/linalg/data/views.hpp>

/// The kernel of operations that compute each entry of a block by itself.
namespace heddle {

/// Rows whose loads a thread has in flight at once.
inline constexpr int kAssignBatch = 4;

/// X(i, c) = value(i, c), with rows distributed to thread blocks cyclically.
template <class T, class Value>
__global__ void assign_kernel(Index rows, int cols, T* X, Index ld, RowLayout layout, Value value) {
  if (!layout.has_row()) return;
  const Index step = Index{gridDim.x} * layout.rows_per_block();
  for (Index i = Index{blockIdx.x} * layout.rows_per_block() + layout.row(); i < rows;
       i += kAssignBatch * step) {
    for (int c = layout.column(); c < cols; c += layout.width()) {
      T batch[kAssignBatch];
#pragma unroll
      for (int k = 0; k < kAssignBatch; ++k) {
        if (i + k * step < rows) batch[k] = value(i + k * step, c);
      }
#pragma unroll
      for (int k = 0; k < kAssignBatch; ++k) {
        if (i + k * step < rows) X[(i + k * step) * ld + c] = batch[k];
      }
    }
  }
}

/// Bytes moved: X is written once, and `value` reads its data once.
template <class T, class Value>
void launch_assign(CudaContext& context, BlockView<T, DeviceSpace> X, const Value& value) {
  if (X.empty()) return;
  constexpr Index kBlocksPerMultiprocessor = 16;
  const Index most = kBlocksPerMultiprocessor * context.device().multiprocessors;
  const RowLayout layout(X.cols());
  const Index blocks = ceil_div<Index>(X.rows(), kAssignBatch * layout.rows_per_block());
  assign_kernel<<<static_cast<unsigned>(std::min(blocks, most)), kThreads, 0, context.stream()>>>(
      X.rows(), static_cast<int>(X.cols()), X.data(), X.ld(), layout, value);
  check_launch();
}

}  // namespace heddle
