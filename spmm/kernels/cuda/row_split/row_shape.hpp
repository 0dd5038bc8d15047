#pragma once

#include <heddle/spmm/features/features.hpp>

/// The number of lanes per row of A for row splits. Needs no GPU.
namespace heddle::detail::cuda {

/// The number of lane groups per row for `row_parallel`: such that a group has about four nonzeros.
int row_groups(const MatrixFeatures& A) noexcept;

/// The largest number of lanes that `row_split` uses for the columns of a row. Rows shorter than
/// two rounds of gathers are faster in stripes half as wide (one H200, 7-point stencil, 64 columns:
/// 20 %).
int row_lanes(const MatrixFeatures& A) noexcept;

}  // namespace heddle::detail::cuda
