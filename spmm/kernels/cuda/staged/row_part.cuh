#pragma once

#include <heddle/spmm/kernels/cuda/staged/block_columns.hpp>

namespace heddle::detail::cuda {

/// The first of the ascending columns begin … end − 1 that is at least `column`.
__device__ inline Index lower_bound(const std::int32_t* columns, Index begin, Index end,
                                    std::int32_t column) {
  while (begin < end) {
    const Index middle = (begin + end) / 2;
    if (columns[middle] < column) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// The entries of a row in a piece.
struct RowPart {
  Index begin;
  Index end;
};

/// That of `row`, or none for kNoRow. The piece's columns are among `columns`.
template <class T>
__device__ RowPart part_of_row(const CsrView<T, DeviceSpace>& A, std::int32_t row,
                               const RowPiece& piece, const std::int32_t* columns) {
  if (row < 0 || piece.columns == 0) return {0, 0};
  const Index end = A.row_offsets[row + 1];
  const Index from = lower_bound(A.columns, A.row_offsets[row], end, columns[piece.first_column]);
  const std::int32_t last = columns[piece.first_column + piece.columns - 1];
  return {from, lower_bound(A.columns, from, end, last + 1)};
}

}  // namespace heddle::detail::cuda
