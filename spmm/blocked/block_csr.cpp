#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <tuple>
#include <vector>

namespace heddle {
namespace {

/// An entry of a panel of rows.
struct PanelEntry {
  std::int32_t column;  ///< its position in the order of columns
  std::int32_t row;     ///< in the panel
  std::int64_t entry;   ///< its place among A's values

  bool operator<(const PanelEntry& other) const noexcept {
    return std::tie(column, row) < std::tie(other.column, other.row);
  }
};

/// The panels of an order of A's rows.
struct Panels {
  RowPattern A;
  Index height;
  const BlockOrder& order;

  Index count() const noexcept { return Slabs{A.rows, height}.count(); }
  Index first(Index panel) const noexcept { return panel * height; }
  Index end(Index panel) const noexcept { return std::min((panel + 1) * height, A.rows); }
  Index row(Index position) const noexcept {
    return order.rows.empty() ? position : order.rows[static_cast<std::size_t>(position)];
  }
  Index entries(Index panel) const noexcept {
    Index total = 0;
    for (Index p = first(panel); p < end(panel); ++p) total += A.length(row(p));
    return total;
  }
};

/// Appends the entries of a panel, by columns and in a column by rows. `column_places` is the
/// inverse of the order of columns.
void read_panel(const Panels& panels, Index panel, const std::vector<std::int32_t>& column_places,
                std::vector<PanelEntry>& entries) {
  const RowPattern& A = panels.A;
  for (Index p = panels.first(panel); p < panels.end(panel); ++p) {
    const Index row = panels.row(p);
    for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      const std::int32_t column = column_places.empty()
                                      ? A.columns[k]
                                      : column_places[static_cast<std::size_t>(A.columns[k])];
      entries.push_back({column, static_cast<std::int32_t>(p - panels.first(panel)), k});
    }
  }
  std::sort(entries.begin(), entries.end());
}

/// Calls body(panel, entries of the panel) for all panels, in parallel. `body` must not throw.
template <class Body>
void for_each_panel(HostContext& context, const Panels& panels, const Body& body) {
  const std::vector<std::int32_t> places = inverse_order(panels.order.columns);
  Index most = 0;
  for (Index p = 0; p < panels.count(); ++p) most = std::max(most, panels.entries(p));
  std::vector<std::vector<PanelEntry>> of_members(static_cast<std::size_t>(context.threads()));
  for (std::vector<PanelEntry>& entries : of_members) {
    entries.reserve(static_cast<std::size_t>(most));
  }
  parallel_for(context.threads(), panels.count(), [&](Index panel, int member) {
    std::vector<PanelEntry>& entries = of_members[static_cast<std::size_t>(member)];
    entries.clear();
    read_panel(panels, panel, places, entries);
    body(panel, entries);
  });
}

/// A copy of a list of a `BlockOrder`.
Buffer<std::int32_t, HostSpace> copy_order(HostContext& context,
                                           const std::vector<std::int32_t>& order) {
  Buffer<std::int32_t, HostSpace> copy(context, order.size());
  std::copy(order.begin(), order.end(), copy.data());
  return copy;
}

}  // namespace

template <class V, Scalar T>
BlockCsr<V, HostSpace> make_block_csr(HostContext& context, CsrView<T, HostSpace> A,
                                      BlockShape shape, const BlockOrder& order) {
  const BlockCounts counts = count_blocks(context, pattern_of(A), shape, order);
  BlockCsr<V, HostSpace> result;
  result.rows = A.rows;
  result.cols = A.cols;
  result.shape = shape;
  result.row_order = copy_order(context, order.rows);
  result.column_order = copy_order(context, order.columns);
  result.row_offsets = {context, counts.per_block_row.size() + 1};
  result.row_offsets[0] = 0;
  for (std::size_t p = 0; p < counts.per_block_row.size(); ++p) {
    result.row_offsets[p + 1] = result.row_offsets[p] + counts.per_block_row[p];
  }
  const auto blocks = static_cast<std::size_t>(counts.blocks());
  const auto area = static_cast<std::size_t>(shape.area());
  result.columns = {context, blocks};
  result.values = {context, blocks * area};
  const auto fill = [&](Index block_row, const std::vector<PanelEntry>& entries) {
    const auto first =
        static_cast<std::size_t>(result.row_offsets[static_cast<std::size_t>(block_row)]);
    const auto count =
        static_cast<std::size_t>(counts.per_block_row[static_cast<std::size_t>(block_row)]);
    std::fill_n(result.values.data() + first * area, count * area, V{});
    std::size_t next = first;
    for (const PanelEntry& entry : entries) {
      const auto block_column = static_cast<std::int32_t>(entry.column / shape.width);
      if (next == first || result.columns[next - 1] != block_column) {
        result.columns[next++] = block_column;
      }
      const Index place = entry.row * shape.width + entry.column % shape.width;
      result.values[(next - 1) * area + static_cast<std::size_t>(place)] =
          V::round(static_cast<double>(A.values[entry.entry]));
    }
  };
  for_each_panel(context, {pattern_of(A), shape.height, order}, fill);
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
