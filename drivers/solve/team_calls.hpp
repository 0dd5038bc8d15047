#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/drivers/team/matrices_by_rows.hpp>
#include <heddle/drivers/team/vector_part.hpp>
#include <heddle/linalg/data/block_source.hpp>
#include <optional>
#include <variant>

/// What process 0 asks of the other processes before and after a solve.
namespace heddle::detail {

/// As `own_rows`, for process 0, which calls the other processes of `device` to it. These keep
/// their rows for one solve, the next that process 0 does.
std::optional<Problem> make_own_rows(Device& device, const MatricesByRows& matrices,
                                     const Request& request);

/// The leading `count` vectors, or left vectors, of `solution` in the order of the problem, for
/// process 0. Each part that is taken calls the other processes of `device`, which then do nothing
/// but wait for orders. All processes write rows to one file at once, if all of them find it.
/// `device` and `solution` must outlive the result.
std::variant<BlockSource<double>, BlockSource<float>> vectors_of(Device& device,
                                                                 const Solution& solution,
                                                                 VectorSide side, Index count);

}  // namespace heddle::detail
