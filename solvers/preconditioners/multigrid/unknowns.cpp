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

}  // namespace

Index unknowns_per_node(HostContext&, CsrView<double, HostSpace> A) {
  for (Index b = kMostUnknowns; b > 1; --b) {
    const NodeSample sample = node_sample(A.rows, b);
    Index full = 0;
    for (Index k = 0; k < sample.count; ++k) full += is_node(A, k * sample.step * b, b);
    if (sample.has_enough(full)) return b;
  }
  return 1;
}

}  // namespace heddle::detail
