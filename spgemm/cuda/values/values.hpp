#pragma once

#include <heddle/spgemm/cuda/rows/operands.hpp>
#include <heddle/spgemm/cuda/rows/repeated_rows.hpp>
#include <heddle/spgemm/cuda/rows/row_bins.hpp>

/// The numeric phase: the values of C = A B, whose pattern is known.
namespace heddle::detail {

/// The rows of C by the kernel that computes their values. `blocks`: see `RowSizes`, of the leading
/// rows of all runs. `entries` ← the entries of C, which the row offsets end with.
template <Scalar T>
RowBins bin_by_size(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                    const CsrView<T, DeviceSpace>& B, const RunPlaces& places,
                    const std::int64_t* row_offsets, const std::int32_t* blocks, Index& entries);

/// Computes the values of all rows of C, and with them the columns that `copy_patterns` leaves out
/// if `with_columns` is set.
template <Scalar T>
void compute_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                  const CsrView<T, DeviceSpace>& B, const RowBins& bins, const RunPlaces& places,
                  Index longest_of_B, const ProductTarget<T>& C, bool with_columns);

}  // namespace heddle::detail
