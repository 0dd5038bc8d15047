#pragma once

#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/data/row_range.hpp>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle {

/// Which rows of matrices and vectors each of several processes holds: process k has the rows
/// begins[k] … begins[k + 1] − 1.
struct RowRanges {
  std::vector<Index> begins;  ///< one more than there are processes, from 0 to the number of rows

  Index rows() const noexcept { return begins.back(); }
  int processes() const noexcept { return static_cast<int>(begins.size()) - 1; }
  RowRange of(int process) const noexcept {
    const auto k = static_cast<std::size_t>(process);
    return {begins[k], begins[k + 1] - begins[k], rows()};
  }
  /// The process that holds `row`.
  int owner(Index row) const noexcept;
};

/// The work that a row of A makes: its entries, and more for its share of the vectors.
template <Scalar T>
Index row_cost(const CsrView<T, HostSpace>& A, Index row) noexcept;

/// `node` if `rows` rows are whole nodes of so many rows, one or more for each process; else 1.
Index whole_nodes(Index rows, int processes, Index node) noexcept;

/// Ranges of rows of A for `processes` processes, each with `least` nodes or more. The processes
/// get about equal sums of `row_cost`. Ranges begin at multiples of `node`, of which the number of
/// rows is a multiple, so that the rows of a node stay together. Throws `InvalidArgument` if A has
/// too few rows.
template <Scalar T>
RowRanges balanced_rows(const CsrView<T, HostSpace>& A, int processes, Index least = 1,
                        Index node = 1);

/// The same ranges where this process knows the rows `held.of(rank)` of A alone, which are
/// `A_rows`. All of `processes` call it together.
template <Scalar T>
RowRanges balanced_rows(Processes& processes, const CsrView<T, HostSpace>& A_rows,
                        const RowRanges& held, Index least = 1, Index node = 1);

/// Ranges of `rows` rows for `processes` processes, whose lengths differ by 1 at most.
RowRanges equal_rows(Index rows, int processes);

}  // namespace heddle
