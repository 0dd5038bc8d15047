#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <heddle/spmm/blocked/panel_entries.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <string>

namespace heddle {
namespace {

/// Writes the groups of one panel.
template <class V, Scalar T>
void fill_panel(ColumnPanels<V, HostSpace>& panels, Index panel,
                const std::vector<detail::PanelEntry>& entries, const T* values) {
  const Index width = panels.shape.width;
  const Index first = panels.group_offsets[static_cast<std::size_t>(panel)];
  const Index end = panels.group_offsets[static_cast<std::size_t>(panel + 1)];
  const Index area = panels.shape.area();
  std::fill_n(panels.values.data() + first * area, (end - first) * area, V{});
  Index next = first * width;
  for (const detail::PanelEntry& entry : entries) {
    if (next == first * width || panels.columns.data()[next - 1] != entry.column) {
      panels.columns.data()[next++] = entry.column;
    }
    const Index group = (next - 1) / width;
    const Index place = (group * panels.shape.height + entry.row) * width + (next - 1) % width;
    panels.values.data()[place] = V::round(static_cast<double>(values[entry.entry]));
  }
  for (; next < end * width; ++next) {
    panels.columns.data()[next] = panels.columns.data()[next - 1];
  }
}

}  // namespace

template <class V, Scalar T>
ColumnPanels<V, HostSpace> make_column_panels(HostContext& context, CsrView<T, HostSpace> A,
                                              BlockShape shape, const BlockOrder& order) {
  if (!order.columns.empty()) {
    throw InvalidArgument(
        "column-compacted panels keep no order of columns; give one of rows only");
  }
  if (shape.width <= 0) {
    throw InvalidArgument("groups of " + std::to_string(shape.width) +
                          " columns: there must be at least one");
  }
  const BlockCounts counts = count_blocks(context, pattern_of(A), {shape.height, 1}, order);
  ColumnPanels<V, HostSpace> result;
  result.rows = A.rows;
  result.cols = A.cols;
  result.shape = shape;
  result.row_order = detail::copy_order(context, order.rows);
  const std::size_t panels = counts.per_block_row.size();
  result.group_offsets = {context, panels + 1};
  result.group_offsets[0] = 0;
  for (std::size_t p = 0; p < panels; ++p) {
    const Index groups = (counts.per_block_row[p] + shape.width - 1) / shape.width;
    result.group_offsets[p + 1] = result.group_offsets[p] + groups;
  }
  const Index groups = result.group_offsets[panels];
  result.columns = {context, static_cast<std::size_t>(groups * shape.width)};
  result.values = {context, static_cast<std::size_t>(groups * shape.area())};
  detail::for_each_panel(context, {pattern_of(A), shape.height, order},
                         [&](Index panel, const std::vector<detail::PanelEntry>& entries) {
                           fill_panel(result, panel, entries, A.values);
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
        for (Index c = 0; c < A.shape.width; ++c) {
          const Index place = (g * A.shape.height + row) * A.shape.width + c;
          sum += A.values[static_cast<std::size_t>(place)].value() *
                 B(A.columns[static_cast<std::size_t>(g * A.shape.width + c)], n);
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
