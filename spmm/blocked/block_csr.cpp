#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <heddle/spmm/blocked/panel_entries.hpp>
#include <heddle/spmm/blocked/value_types.hpp>

namespace heddle {

template <class V, Scalar T>
BlockCsr<V, HostSpace> make_block_csr(HostContext& context, CsrView<T, HostSpace> A,
                                      BlockShape shape, const BlockOrder& order) {
  const BlockCounts counts = count_blocks(context, pattern_of(A), shape, order);
  BlockCsr<V, HostSpace> result;
  result.rows = A.rows;
  result.cols = A.cols;
  result.shape = shape;
  result.row_order = detail::copy_order(context, order.rows);
  result.column_order = detail::copy_order(context, order.columns);
  result.row_offsets = {context, counts.per_block_row.size() + 1};
  result.row_offsets[0] = 0;
  for (std::size_t p = 0; p < counts.per_block_row.size(); ++p) {
    result.row_offsets[p + 1] = result.row_offsets[p] + counts.per_block_row[p];
  }
  const auto blocks = static_cast<std::size_t>(counts.blocks());
  const auto area = static_cast<std::size_t>(shape.area());
  result.columns = {context, blocks};
  result.values = {context, blocks * area};
  const auto fill = [&](Index block_row, const std::vector<detail::PanelEntry>& entries) {
    const auto first =
        static_cast<std::size_t>(result.row_offsets[static_cast<std::size_t>(block_row)]);
    const auto count =
        static_cast<std::size_t>(counts.per_block_row[static_cast<std::size_t>(block_row)]);
    std::fill_n(result.values.data() + first * area, count * area, V{});
    std::size_t next = first;
    for (const detail::PanelEntry& entry : entries) {
      const auto block_column = static_cast<std::int32_t>(entry.column / shape.width);
      if (next == first || result.columns[next - 1] != block_column) {
        result.columns[next++] = block_column;
      }
      const Index place = entry.row * shape.width + entry.column % shape.width;
      result.values[(next - 1) * area + static_cast<std::size_t>(place)] =
          V::round(static_cast<double>(A.values[entry.entry]));
    }
  };
  detail::for_each_panel(context, {pattern_of(A), shape.height, order}, fill);
  return result;
}

#define HEDDLE_INSTANTIATE(V)                                                                 \
  template BlockCsr<V, HostSpace> make_block_csr<V>(HostContext&, CsrView<float, HostSpace>,  \
                                                    BlockShape, const BlockOrder&);           \
  template BlockCsr<V, HostSpace> make_block_csr<V>(HostContext&, CsrView<double, HostSpace>, \
                                                    BlockShape, const BlockOrder&);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
