#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/row_ranges.hpp>
#include <string>

namespace heddle {
namespace {

/// A row costs a solver about as much in its blocks of vectors as so many entries in products.
constexpr Index kRowEntries = 16;

}  // namespace

template <Scalar T>
Index row_cost(const CsrView<T, HostSpace>& A, Index row) noexcept {
  return A.row_offsets[row + 1] - A.row_offsets[row] + kRowEntries;
}

int RowRanges::owner(Index row) const noexcept {
  return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), row) - begins.begin()) - 1;
}

template <Scalar T>
RowRanges balanced_rows(const CsrView<T, HostSpace>& A, int processes, Index least, Index node) {
  const Index nodes = A.rows / node;
  if (nodes < least * processes) {
    throw InvalidArgument("there are " + std::to_string(processes) + " processes, but the matrix " +
                          "has " + std::to_string(nodes) + (node > 1 ? " nodes" : " rows") +
                          ": start fewer processes");
  }
  const auto cost = [&](Index k) { return A.row_offsets[k * node] + kRowEntries * k * node; };
  RowRanges ranges{{0}};
  for (int k = 1; k <= processes; ++k) {
    const double target = static_cast<double>(cost(nodes)) * k / processes;
    Index low = ranges.begins.back() / node + least;  // its nodes for each, before and after k
    Index high = nodes - least * (processes - k);
    while (low < high) {
      const Index middle = (low + high) / 2;
      if (static_cast<double>(cost(middle)) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    ranges.begins.push_back(low * node);
  }
  return ranges;
}

#define HEDDLE_INSTANTIATE(T)                                            \
  template Index row_cost(const CsrView<T, HostSpace>&, Index) noexcept; \
  template RowRanges balanced_rows(const CsrView<T, HostSpace>&, int, Index, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
