#pragma once

#include <cstdint>
#include <heddle/drivers/inspect/facts.hpp>
#include <vector>

namespace heddle::detail {

/// Gives the rows of a problem, the columns of its matrices, and what is known of them another
/// order: row k becomes row order[k].
template <Scalar T>
void reorder(HostContext& host, const std::vector<std::int32_t>& order, HostProblem<T>& problem,
             Facts& facts);

}  // namespace heddle::detail
