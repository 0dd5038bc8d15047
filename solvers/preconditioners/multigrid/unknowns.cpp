#include <algorithm>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>

namespace heddle::detail {
namespace {

/// Whether the b rows from `first` on have equal columns, which are whole nodes.
bool is_node(const CsrView<double, HostSpace>& A, Index first, Index b) {
  const std::int32_t* const columns = A.columns + A.row_offsets[first];
  const Index length = A.row_offsets[first + 1] - A.row_offsets[first];
  if (length == 0 || length % b != 0) return false;
  for (Index k = 0; k < length; ++k) {
    if (columns[k] % b != k % b || columns[k] / b != columns[k - k % b] / b) return false;
  }
  for (Index row = first + 1; row < first + b; ++row) {
    if (A.row_offsets[row + 1] - A.row_offsets[row] != length) return false;
    if (!std::equal(columns, columns + length, A.columns + A.row_offsets[row])) return false;
  }
  return true;
}

/// Whether the samples of all processes have enough full nodes together, and all of them whole
/// nodes.
bool agreed(HostContext& context, const NodeSample& sample, Index full, bool ends_within) {
  double sums[] = {static_cast<double>(sample.count), static_cast<double>(full),
                   ends_within ? 1.0 : 0.0};
  context.processes()->sum(sums);
  return sums[2] == 0 &&
         NodeSample{1, static_cast<Index>(sums[0])}.has_enough(static_cast<Index>(sums[1]));
}

}  // namespace

Index unknowns_per_node(HostContext& context, const DistributedCsrView<double, HostSpace>& A) {
  const CsrView<double, HostSpace>& own = A.own;
  for (Index b = kMostUnknowns; b > 1; --b) {
    const NodeSample sample = node_sample(own.rows, b);
    Index full = 0;
    for (Index k = 0; k < sample.count; ++k) full += is_node(own, k * sample.step * b, b);
    const bool found = A.is_distributed() ? agreed(context, sample, full, own.rows % b != 0)
                                          : sample.has_enough(full);
    if (found) return b;
  }
  return 1;
}

Index unknowns_per_node(HostContext& context, CsrView<double, HostSpace> A_rows,
                        const RowRange& rows) {
  for (Index b = kMostUnknowns; b > 1; --b) {
    const NodeSample sample = node_sample(rows.global, b);
    const Index distance = std::max<Index>(sample.step, 1) * b;  // between first rows of nodes
    double full = 0;
    for (Index k = (rows.first + distance - 1) / distance; k < sample.count; ++k) {
      if (k * distance >= rows.first + rows.local) break;
      full += is_node(A_rows, k * distance - rows.first, b);
    }
    context.processes()->sum({&full, 1});
    if (sample.has_enough(static_cast<Index>(full))) return b;
  }
  return 1;
}

}  // namespace heddle::detail
