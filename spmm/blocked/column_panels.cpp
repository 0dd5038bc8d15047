#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <heddle/spmm/blocked/panel_entries.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <string>

namespace heddle {
namespace {

/// Writes one panel: groups, masks and values, the latter from `next_value` on.
template <class V, Scalar T>
void fill_panel(ColumnPanels<V, HostSpace>& panels, Index panel, std::int64_t next_value,
                const std::vector<detail::PanelEntry>& entries, const T* values) {
  const auto width = static_cast<std::size_t>(panels.shape.width);
  const auto first =
      static_cast<std::size_t>(panels.group_offsets[static_cast<std::size_t>(panel)]) * width;
  const auto end =
      static_cast<std::size_t>(panels.group_offsets[static_cast<std::size_t>(panel + 1)]) * width;
  std::size_t next = first;
  for (const detail::PanelEntry& entry : entries) {
    if (next == first || panels.columns[next - 1] != entry.column) {
      if (next % width == 0) panels.value_offsets[next / width] = next_value;
      panels.columns[next] = entry.column;
      panels.masks[next] = 0;
      ++next;
    }
    panels.masks[next - 1] = static_cast<std::uint16_t>(panels.masks[next - 1] | 1u << entry.row);
    panels.values[static_cast<std::size_t>(next_value++)] =
        V::round(static_cast<double>(values[entry.entry]));
  }
  for (; next < end; ++next) {
    panels.columns[next] = panels.columns[next - 1];
    panels.masks[next] = 0;
  }
}

}  // namespace

template <class V, Scalar T>
ColumnPanels<V, HostSpace> make_column_panels(HostContext& context, CsrView<T, HostSpace> A,
                                              BlockShape shape, const BlockOrder& order) {
  using Panels = ColumnPanels<V, HostSpace>;
  if (shape.height > Panels::kMostRows) {
    throw InvalidArgument("panels of " + std::to_string(shape.height) + " rows: at most " +
                          std::to_string(Panels::kMostRows) + " are possible");
  }
  if (!order.columns.empty()) {
    throw InvalidArgument(
        "column-compacted panels keep no order of columns; give one of rows only");
  }
  if (shape.width <= 0) {
    throw InvalidArgument("groups of " + std::to_string(shape.width) +
                          " columns: there must be at least one");
  }
  const BlockCounts counts = count_blocks(context, pattern_of(A), {shape.height, 1}, order);
  Panels result;
  result.rows = A.rows;
  result.cols = A.cols;
  result.shape = shape;
  result.row_order = detail::copy_order(context, order.rows);
  const std::size_t panels = counts.per_block_row.size();
  result.group_offsets = {context, panels + 1};
  result.group_offsets[0] = 0;
  std::vector<std::int64_t> first_value(panels + 1);
  const detail::Panels rows{pattern_of(A), shape.height, order};
  for (std::size_t p = 0; p < panels; ++p) {
    const Index groups = (counts.per_block_row[p] + shape.width - 1) / shape.width;
    result.group_offsets[p + 1] = result.group_offsets[p] + groups;
    first_value[p + 1] = first_value[p] + rows.entries(static_cast<Index>(p));
  }
  const auto groups = static_cast<std::size_t>(result.group_offsets[panels]);
  result.value_offsets = {context, groups + 1};
  result.value_offsets[groups] = A.nnz;
  result.columns = {context, groups * static_cast<std::size_t>(shape.width)};
  result.masks = {context, groups * static_cast<std::size_t>(shape.width)};
  result.values = {context, static_cast<std::size_t>(A.nnz)};
  detail::for_each_panel(
      context, rows, [&](Index panel, const std::vector<detail::PanelEntry>& entries) {
        fill_panel(result, panel, first_value[static_cast<std::size_t>(panel)], entries, A.values);
      });
  return result;
}

template <class V>
void reference_product(const ColumnPanels<V, HostSpace>& A, ConstBlockView<float, HostSpace> B,
                       BlockView<float, HostSpace> C) {
  for (Index p = 0; p < A.rows; ++p) {
    const auto panel = static_cast<std::size_t>(p / A.shape.height);
    const Index row = p % A.shape.height;
    const Index target = A.row_order.size() == 0 ? p : A.row_order[static_cast<std::size_t>(p)];
    for (Index n = 0; n < B.cols(); ++n) {
      float sum = 0;
      for (Index g = A.group_offsets[panel]; g < A.group_offsets[panel + 1]; ++g) {
        Index value = A.value_offsets[static_cast<std::size_t>(g)];
        for (Index c = g * A.shape.width; c < (g + 1) * A.shape.width; ++c) {
          const unsigned mask = A.masks[static_cast<std::size_t>(c)];
          const int before = std::popcount(mask & ((1u << row) - 1));
          if ((mask >> row & 1u) != 0) {
            sum += A.values[static_cast<std::size_t>(value + before)].value() *
                   B(A.columns[static_cast<std::size_t>(c)], n);
          }
          value += std::popcount(mask);
        }
      }
      C(target, n) = sum;
    }
  }
}

#define HEDDLE_INSTANTIATE(V)                                                   \
  template ColumnPanels<V, HostSpace> make_column_panels<V>(                    \
      HostContext&, CsrView<float, HostSpace>, BlockShape, const BlockOrder&);  \
  template ColumnPanels<V, HostSpace> make_column_panels<V>(                    \
      HostContext&, CsrView<double, HostSpace>, BlockShape, const BlockOrder&); \
  template void reference_product(const ColumnPanels<V, HostSpace>&,            \
                                  ConstBlockView<float, HostSpace>, BlockView<float, HostSpace>);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
