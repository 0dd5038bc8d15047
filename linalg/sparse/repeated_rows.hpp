#pragma once

#include <algorithm>
#include <cstdint>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Whether each row of A has the columns of the row before it, as 1 or 0, in A.rows bytes.
template <Scalar T>
Buffer<std::uint8_t, HostSpace> repeated_rows(HostContext& context,
                                              const CsrView<T, HostSpace>& A) {
  Buffer<std::uint8_t, HostSpace> repeats(context, static_cast<std::size_t>(A.rows));
  const double bytes = static_cast<double>(A.nnz) * sizeof(std::int32_t);
  parallel_for(team_size(context.threads(), bytes, 0), A.rows, [&](Index i) {
    std::uint8_t& repeat = repeats[static_cast<std::size_t>(i)] = 0;
    if (i == 0) return;
    const std::int32_t* const columns = A.columns + A.row_offsets[i];
    const Index length = A.row_offsets[i + 1] - A.row_offsets[i];
    if (length != A.row_offsets[i] - A.row_offsets[i - 1]) return;
    // Rows that differ mostly do so in their first column.
    if (length > 0 && columns[0] != columns[-length]) return;
    repeat = std::equal(columns, columns + length, columns - length) ? 1 : 0;
  });
  return repeats;
}

}  // namespace heddle::detail
