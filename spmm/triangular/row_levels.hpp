#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/triangular.hpp>
#include <optional>
#include <vector>

namespace heddle::detail::cuda {

/// The rows of a triangular matrix in the order of their levels, see `TriangularPlan`.
struct RowLevels {
  Buffer<std::int32_t, DeviceSpace> rows;  ///< those of a level ascend
  std::vector<Index> level_begins;         ///< into `rows`; one more than there are levels
};

/// The number of levels up to which `row_levels` finds them. A level takes the device about a
/// microsecond, in which the host finds the levels of the rows of about 128 entries.
inline Index most_levels(Index nnz) noexcept { return std::max<Index>(1024, nnz / 128); }

/// The levels of the rows of A, found in one launch in which each row waits for the levels of the
/// rows it depends on. Nothing if there are more than `most_levels`: the host is then faster. A has
/// its whole diagonal, at the ends of the rows of a lower triangle and at the beginnings of those
/// of an upper one, and no entry on the other side. Otherwise the launch would never end.
template <Scalar T>
std::optional<RowLevels> row_levels(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                    Triangle triangle);

}  // namespace heddle::detail::cuda
