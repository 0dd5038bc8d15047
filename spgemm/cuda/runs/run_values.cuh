#pragma once

#include <heddle/spgemm/cuda/rows/operands.hpp>
#include <heddle/spgemm/cuda/rows/repeated_rows.cuh>
#include <heddle/spgemm/cuda/teams/launch_group.cuh>

/// Rows of C whose patterns are shifted copies of the row before.
namespace heddle::detail {

/// The values of chunks of runs, whose first rows are `rows`. A row of C has at most `capacity`
/// entries there. `with_columns`: see `compute_rows`.
template <Scalar T>
void compute_runs(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                  const CsrView<T, DeviceSpace>& B, const std::int32_t* rows, Index count,
                  const Runs& runs, Index longest_of_B, int capacity, const ProductTarget<T>& C,
                  bool with_columns);

/// The values of strips of up to `chunks` chunks of runs that need at most `bytes` of shared memory
/// as a `GatheredChunk`.
template <Scalar T>
void gather_runs(LaunchGroup& group, const CsrView<T, DeviceSpace>& A,
                 const CsrView<T, DeviceSpace>& B, const std::int32_t* rows, Index count,
                 const Runs& runs, int chunks, Index bytes, const ProductTarget<T>& C,
                 bool with_columns);

}  // namespace heddle::detail
