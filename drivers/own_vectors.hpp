#pragma once

#include <cstdint>
#include <heddle/drivers/device.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/drivers/vector_part.hpp>
#include <heddle/linalg/data/block_source.hpp>
#include <heddle/linalg/distributed/row_ranges.hpp>
#include <variant>
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

/// The leading `count` vectors, or left vectors, of `solution` in the order of the problem, for
/// process 0. Each part that is taken calls the other processes of `device`, which then do nothing
/// but wait for orders. All processes write rows to one file at once, if all of them find it.
/// `device` and `solution` must outlive the result.
std::variant<BlockSource<double>, BlockSource<float>> vectors_of(Device& device,
                                                                 const Solution& solution,
                                                                 VectorSide side, Index count);

}  // namespace heddle::detail
