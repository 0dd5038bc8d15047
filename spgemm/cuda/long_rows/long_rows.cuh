#pragma once

#include <heddle/spgemm/cuda/rows/operands.hpp>
#include <heddle/spgemm/cuda/teams/launch_group.cuh>

/// Rows of C that are too long for the tables of the other kernels.
namespace heddle::detail {

/// The pattern, by a bit per column.
void count_long_rows(LaunchGroup& group, const PatternFactors& factors, const std::int32_t* rows,
                     Index count, const RowSizes& sizes);
void fill_long_rows(LaunchGroup& group, const PatternFactors& factors, const std::int32_t* rows,
                    Index count, const std::int64_t* row_offsets, std::int32_t* columns);

/// The values, by stretches of columns.
template <Scalar T>
void compute_long_rows(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                       const CsrView<T, DeviceSpace>& B, const std::int32_t* rows, Index count,
                       const ProductTarget<T>& C);

}  // namespace heddle::detail
