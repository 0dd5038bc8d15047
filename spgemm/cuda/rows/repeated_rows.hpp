#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

/// Rows of C = A B that have the pattern of the row before, moved by one column, as most rows of a
/// matrix on a structured grid have.
namespace heddle::detail {

/// Per row of C its number in its run, in device memory. Row i belongs to the run of row i − 1 if
/// row i of A, and row k of B for each k in row i of A, have the columns of the rows before them,
/// plus 1. Then row i of C has the columns of row i − 1, plus 1. A run has at most
/// `kMostRowsOfRun` rows, since two bytes per row stay in memory in addition to C.
using RunPlace = std::uint16_t;
using RunPlaces = Buffer<RunPlace, DeviceSpace>;
inline constexpr Index kMostRowsOfRun = Index{1} << 16;

template <Scalar T>
RunPlaces find_runs(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                    const CsrView<T, DeviceSpace>& B);

/// counts[i] ← the count of the first row of the run of i, for all rows.
void spread_counts(CudaContext& context, const RunPlaces& places, Index* counts);

/// Writes the columns of the rows that are not the first ones of their runs, except for the chunks
/// that `compute_runs` computes, which writes them.
void copy_patterns(CudaContext& context, const RunPlaces& places, const std::int64_t* row_offsets,
                   std::int32_t* columns);

}  // namespace heddle::detail
