#include <algorithm>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>

namespace heddle::detail {
namespace {

constexpr Index kMostUnknowns = 6;

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

Index unknowns_per_node(CsrView<double, HostSpace> A) {
  constexpr Index kSample = 4096;  // nodes
  for (Index b = kMostUnknowns; b > 1; --b) {
    const Index nodes = A.rows / b;
    if (A.rows % b != 0 || nodes < 2 * b) continue;
    const Index step = std::max<Index>(1, nodes / kSample);
    Index seen = 0;
    Index full = 0;
    for (Index node = 0; node < nodes; node += step, ++seen) full += is_node(A, node * b, b);
    if (20 * full >= 19 * seen) return b;
  }
  return 1;
}

}  // namespace heddle::detail
