#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <string>

namespace heddle {
namespace {

/// A row costs a solver about as much in its blocks of vectors as this many entries in products.
constexpr Index kRowEntries = 16;

void check_rows(Index nodes, int processes, Index least, Index node) {
  if (nodes >= least * processes) return;
  throw InvalidArgument("there are " + std::to_string(processes) + " processes, but the matrix " +
                        "has " + std::to_string(nodes) + (node > 1 ? " nodes" : " rows") +
                        ": start fewer processes");
}

/// The cost of all rows before the end of the range of process k − 1 of `processes`.
double share_of(Index cost, int k, int processes) {
  return static_cast<double>(cost) * k / processes;
}

/// The first row from `low` on before which all rows cost `target` or more, at most `high`.
/// cost(row): that of all rows before `row`.
template <class Cost>
Index first_of_cost(Index low, Index high, double target, const Cost& cost) {
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (static_cast<double>(cost(middle)) < target) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Ranges of whole nodes that end at `cuts`, behind the node of a cut, or as near to them as ranges
/// of `least` nodes or more allow.
RowRanges ranges_at(const std::vector<Index>& cuts, Index rows, Index least, Index node) {
  RowRanges ranges{{0}};
  least *= node;
  for (const Index cut : cuts) {
    const Index after = std::ssize(cuts) - std::ssize(ranges.begins);  // processes that follow
    const Index end = (cut + node - 1) / node * node;
    ranges.begins.push_back(std::clamp(end, ranges.begins.back() + least, rows - least * after));
  }
  return ranges;
}

}  // namespace

template <Scalar T>
Index row_cost(const CsrView<T, HostSpace>& A, Index row) noexcept {
  return A.row_offsets[row + 1] - A.row_offsets[row] + kRowEntries;
}

int RowRanges::owner(Index row) const noexcept {
  return static_cast<int>(std::upper_bound(begins.begin(), begins.end(), row) - begins.begin()) - 1;
}

Index whole_nodes(Index rows, int processes, Index node) noexcept {
  return rows % node == 0 && rows / node >= processes ? node : 1;
}

RowRanges equal_rows(Index rows, int processes) {
  RowRanges ranges{{0}};
  for (Index k = 1; k <= processes; ++k) ranges.begins.push_back(rows * k / processes);
  return ranges;
}

template <Scalar T>
RowRanges balanced_rows(const CsrView<T, HostSpace>& A, int processes, Index least, Index node) {
  check_rows(A.rows / node, processes, least, node);
  const auto cost = [&A](Index row) { return A.row_offsets[row] + kRowEntries * row; };
  std::vector<Index> cuts;
  for (int k = 1; k <= processes; ++k) {
    cuts.push_back(first_of_cost(0, A.rows, share_of(cost(A.rows), k, processes), cost));
  }
  return ranges_at(cuts, A.rows, least, node);
}

template <Scalar T>
RowRanges balanced_rows(Processes& processes, const CsrView<T, HostSpace>& A_rows,
                        const RowRanges& held, Index least, Index node) {
  const int size = processes.size();
  const Index rows = held.rows();
  check_rows(rows / node, size, least, node);
  const RowRange own = held.of(processes.rank());
  const RowRanges entries = ranges_of_all(processes, A_rows.nnz);
  const Index before = entries.of(processes.rank()).first;
  const auto cost = [&](Index row) {
    return before + A_rows.row_offsets[row - own.first] + kRowEntries * row;
  };
  std::vector<double> cuts;  // negative, so that the largest is the first row of all processes
  for (int k = 1; k <= size; ++k) {
    const Index end = own.first + own.local;
    const double share = share_of(entries.rows() + kRowEntries * rows, k, size);
    const bool reached = static_cast<double>(cost(end)) >= share;
    const Index first = reached ? first_of_cost(own.first, end, share, cost) : rows;
    cuts.push_back(-static_cast<double>(first));
  }
  processes.largest(cuts);
  std::vector<Index> first_rows;
  for (const double cut : cuts) first_rows.push_back(static_cast<Index>(-cut));
  return ranges_at(first_rows, rows, least, node);
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template Index row_cost(const CsrView<T, HostSpace>&, Index) noexcept;                       \
  template RowRanges balanced_rows(const CsrView<T, HostSpace>&, int, Index, Index);           \
  template RowRanges balanced_rows(Processes&, const CsrView<T, HostSpace>&, const RowRanges&, \
                                   Index, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
