#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/sparse/device_sort.hpp>

/// Rows of C = A B that have the pattern of the row before, moved by one column, as most rows of a
/// matrix on a structured grid have.
namespace heddle::detail {

/// For each row i of C the first row of the run that i belongs to. Row i belongs to the run of row
/// i − 1 if row i of A, and row k of B for each k in row i of A, have the columns of the rows
/// before them, plus 1. Then row i of C has the columns of row i − 1, plus 1.
template <Scalar T>
DeviceIntegers find_run_leaders(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                const CsrView<T, DeviceSpace>& B);

/// counts[i] ← counts[leaders[i]] for all rows.
void spread_counts(CudaContext& context, const DeviceIntegers& leaders, Index* counts);

/// Writes the columns of the rows that are not the first ones of their runs. `nnz` is that of C.
void copy_patterns(CudaContext& context, const DeviceIntegers& leaders,
                   const std::int64_t* row_offsets, Index nnz, std::int32_t* columns);

}  // namespace heddle::detail
