#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/cuda/product.hpp>

/// The second pass of kernels that cut long rows of A into segments.
namespace heddle::detail::cuda {

/// A row that was cut into segments, whose sums are parts first_part … last_part − 1.
struct SplitRow {
  Index row;
  Index first_part;
  Index last_part;  ///< one past
};

/// The sums of segments in device memory: column j of part p is sums[p·pitch + j].
template <class T>
struct RowParts {
  T* sums = nullptr;
  Index pitch = 0;  ///< a multiple of 16 bytes
};

/// The pitch of parts of N columns: whole vectors.
template <class T>
constexpr Index part_pitch(Index N) noexcept {
  return (N + kVectorWidth<T> - 1) / kVectorWidth<T> * kVectorWidth<T>;
}

/// Queues the second pass of a product: adds the parts of each row that was cut, in an order that
/// does not vary, and ends the row with all terms of the epilogue.
template <class T>
void launch_add_parts(CudaContext& context, const SpmmProduct<T>& product,
                      const Buffer<SplitRow, DeviceSpace>& rows, const RowParts<T>& parts);

}  // namespace heddle::detail::cuda
