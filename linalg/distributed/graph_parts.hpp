#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <string>
#include <vector>

namespace heddle::detail {

/// Why graphs of this size cannot be partitioned. Empty if they can.
std::string no_parts_reason(Index rows, Index entries);

/// The part, 0 … parts − 1, of each row of a symmetric A, from METIS. Few entries join different
/// parts, and the parts have about equal sums of `weights`. Every part has a row if A has as many
/// rows as parts. Equal input gives equal parts.
template <Scalar T>
std::vector<std::int32_t> graph_parts(const CsrView<T, HostSpace>& A,
                                      const std::vector<std::int32_t>& weights, int parts);

}  // namespace heddle::detail
