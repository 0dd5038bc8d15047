#include <heddle/linalg/base/clock.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <heddle/spmm/transpose/transposed_pattern.hpp>
#include <utility>

namespace heddle {
namespace {

std::vector<std::int32_t> cluster_columns(HostContext& context, const RowPattern& A,
                                          BlockShape shape, const std::vector<std::int32_t>& rows) {
  const CsrView<double, HostSpace> view{A.rows, A.cols, A.nnz, A.row_offsets, A.columns, nullptr};
  const auto transposed = detail::transposed_pattern(context, view);
  const RowPattern At{A.cols, A.rows, A.nnz, transposed.row_offsets.data(),
                      transposed.columns.data()};
  return cluster_rows(context, At, {shape.width, shape.height}, rows);
}

double predicted(const BlockOrdering& ordering, const BlockTimes& times) {
  const bool gathered = ordering.kind == Reordering::rows_and_columns;
  return static_cast<double>(ordering.counts.blocks()) *
         (gathered ? times.per_gathered_block : times.per_block);
}

}  // namespace

std::string_view reordering_name(Reordering order) noexcept {
  switch (order) {
    case Reordering::rows:
      return "rows";
    case Reordering::rows_and_columns:
      return "rows and columns";
    default:
      return "natural";
  }
}

BlockOrdering order_for_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                               Reordering kind) {
  const Clock::time_point begin = Clock::now();
  BlockOrdering result;
  result.kind = kind;
  if (kind == Reordering::rows) {
    result.order.rows = cluster_rows(context, A, shape);
  } else if (kind == Reordering::rows_and_columns) {
    result.order.rows = cluster_rows(context, A, {shape.height, 1});
    result.order.columns = cluster_columns(context, A, shape, result.order.rows);
  }
  result.seconds = seconds_since(begin);
  result.counts = count_blocks(context, A, shape, result.order);
  return result;
}

BlockOrdering best_order_for_blocks(HostContext& context, const RowPattern& A, BlockShape shape,
                                    const BlockTimes& times) {
  BlockOrdering best = order_for_blocks(context, A, shape, Reordering::none);
  double seconds = 0;
  for (const Reordering kind : {Reordering::rows, Reordering::rows_and_columns}) {
    BlockOrdering ordering = order_for_blocks(context, A, shape, kind);
    seconds += ordering.seconds;
    if (predicted(ordering, times) < predicted(best, times)) {
      best = std::move(ordering);
    }
  }
  best.seconds = seconds;
  return best;
}

}  // namespace heddle
