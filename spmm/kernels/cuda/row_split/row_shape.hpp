#pragma once

#include <heddle/spmm/features/features.hpp>

/// The number of lanes per row of A for row splits. Needs no GPU.
namespace heddle::detail::cuda {

/// The number of lane groups per row for `row_parallel`: such that a group has about four nonzeros.
int row_groups(const MatrixFeatures& A) noexcept;

/// Which rows are long for `row_parallel`, and how they are cut.
struct LongRowShape {
  Index limit;   ///< the most entries of other rows
  Index length;  ///< of a segment
};

/// The shape for N columns of values of `scalar_bytes` bytes. Other rows take at most eight rounds
/// of four entries per lane, segments four to sixteen with all lanes of a warp; but a row up to
/// twice the mean is not long. The same for all widths that have a length.
LongRowShape long_row_shape(const MatrixFeatures& A, Index N, Index scalar_bytes) noexcept;

/// The lanes for the columns of a row, a power of two up to 32, of which the fewest idle in equal
/// stripes of `vectors` loads, and no fewer than 8 for that: a sum of 24 loads takes three stripes
/// of 8 instead of one of 32.
int lanes_of_group(Index vectors) noexcept;

/// The largest number of lanes that `row_split` uses for the columns of a row. Rows shorter than
/// two rounds of gathers are faster in stripes half as wide (one H200, 7-point stencil, 64 columns:
/// 20 %).
int row_lanes(const MatrixFeatures& A) noexcept;

}  // namespace heddle::detail::cuda
