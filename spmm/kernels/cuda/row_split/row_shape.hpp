#pragma once

#include <heddle/spmm/features/features.hpp>

/// How many lanes a row of A gets where rows are split. Needs no GPU.
namespace heddle::detail::cuda {

/// Lane groups that `row_parallel` gives to a row: enough that a group has about four nonzeros.
int row_groups(const MatrixFeatures& A) noexcept;

/// Most lanes that `row_split` gives to the columns of a row. Rows shorter than two rounds of
/// gathers do better in stripes half as wide (one H200, 7-point stencil, 64 columns: 20 %).
int row_lanes(const MatrixFeatures& A) noexcept;

}  // namespace heddle::detail::cuda
