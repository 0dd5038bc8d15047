#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/transpose/transposed_pattern.hpp>
#include <limits>
#include <numeric>

namespace heddle::detail {
namespace {

void check_positions(Index nnz) {
  constexpr Index kMost = std::numeric_limits<std::uint32_t>::max();
  if (nnz <= kMost) return;
  throw InvalidArgument(
      fmt::format("the transposed pattern of {} entries needs positions beyond 32 bits, which hold "
                  "{}: store the transpose instead",
                  nnz, kMost));
}

}  // namespace

template <Scalar T>
TransposedPattern<HostSpace> transposed_pattern(HostContext& context,
                                                const CsrView<T, HostSpace>& A) {
  check_csr_shape(A.cols, A.rows, A.nnz);
  check_positions(A.nnz);
  const auto nnz = static_cast<std::size_t>(A.nnz);
  TransposedPattern<HostSpace> At = {
      {context, static_cast<std::size_t>(A.cols + 1)}, {context, nnz}, {context, nnz}};

  // A thread takes a range of columns of A through all rows: entries come in the order of the rows.
  const Slabs ranges{A.cols,
                     std::max<Index>(1, (A.cols + context.threads() - 1) / context.threads())};
  const auto for_each_entry = [&](const auto& visit) {
    parallel_for(context.threads(), ranges.count(), [&](Index range) {
      for (Index row = 0; row < A.rows; ++row) {
        const std::int32_t* row_end = A.columns + A.row_offsets[row + 1];
        const std::int32_t* column =
            std::lower_bound(A.columns + A.row_offsets[row], row_end, ranges.begin(range));
        for (; column != row_end && *column < ranges.end(range); ++column) {
          visit(*column, row, column - A.columns);
        }
      }
    });
  };

  // The place of a row's next entry; when all are there, that is where the row ends.
  std::int64_t* next = At.row_offsets.data() + 1;
  std::fill_n(At.row_offsets.data(), A.cols + 1, std::int64_t{0});
  for_each_entry([&](Index column, Index, Index) { ++next[column]; });
  std::exclusive_scan(next, next + A.cols, next, std::int64_t{0});
  for_each_entry([&](Index column, Index row, Index position) {
    const std::int64_t to = next[column]++;
    At.columns.data()[to] = static_cast<std::int32_t>(row);
    At.positions.data()[to] = static_cast<std::uint32_t>(position);
  });
  return At;
}

#define HEDDLE_INSTANTIATE(T)                                            \
  template TransposedPattern<HostSpace> transposed_pattern(HostContext&, \
                                                           const CsrView<T, HostSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
