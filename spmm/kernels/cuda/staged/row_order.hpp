#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail::cuda {

/// The rows of a matrix by blocks, in each block by bricks, ascending in each brick.
struct RowOrder {
  Buffer<std::int32_t, DeviceSpace> rows;
  Buffer<Index, DeviceSpace> begin;  ///< block b has rows[begin[b]] … rows[begin[b + 1] − 1]
  Index blocks = 0;
};

/// Orders the rows of A into blocks of at most `most_rows` that share columns: the boxes of the
/// grid that the most frequent offsets of a sample of rows describe. Bricks of `brick_rows` rows,
/// a divisor of most_rows, share most columns; with 1, the rows of a block are ascending. Waits for
/// the sample.
template <class T>
RowOrder order_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, Index most_rows,
                    Index brick_rows = 1);

}  // namespace heddle::detail::cuda
