#pragma once

#include <cstdint>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/drivers/team/vector_part.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <vector>

/// The vectors of a solution of which each process keeps its own rows, so that none needs memory
/// for the whole.
namespace heddle::detail {

/// The rows of this process.
struct OwnVectors {
  HostVectors right{};
  HostVectors left{};  ///< of singular triplets
  RowRanges right_rows{};
  RowRanges left_rows{};
  std::vector<std::int32_t> row_numbers{};  ///< as in `SharedProblem`
};

/// Sends own rows to process 0, or writes them, as `asked`. Called by all others.
void send_part(Processes& processes, const OwnVectors& own, const VectorPart& asked);

const HostVectors& side_of(const OwnVectors& own, VectorSide side);
const RowRanges& rows_of(const OwnVectors& own, VectorSide side);

/// Writes own rows of the columns of `asked.window` to the file. Whether all processes have done
/// so. All call it together.
template <Scalar T>
bool write_own_rows(Processes& processes, const OwnVectors& own, const HostBlock<T>& X,
                    const VectorPart& asked);

}  // namespace heddle::detail
