#pragma once

#include <cstdint>
#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/row_range.hpp>
#include <heddle/linalg/data/views.hpp>
#include <string>
#include <vector>

namespace heddle {

/// Which rows of matrices and vectors each of several processes holds: process k has the rows
/// begins[k] … begins[k + 1] − 1.
struct RowRanges {
  std::vector<Index> begins;  ///< one more than there are processes, from 0 to the number of rows

  Index rows() const noexcept { return begins.back(); }
  /// The number of processes.
  int processes() const noexcept { return static_cast<int>(begins.size()) - 1; }
  /// The rows of a process.
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

/// `node` if `rows` rows are whole nodes of this many rows, one or more for each process; else 1.
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

/// How rows are distributed over processes. `rows`: in the order of the matrix. `metis`: so that
/// few entries join rows of different processes. `automatic`: `metis` where it pays, see
/// `partition`.
enum class Distribution { automatic, rows, metis };

/// The rows that each process takes: row order[k] of the matrix is row k of the distributed matrix.
struct Partition {
  RowRanges ranges;                 ///< of the distributed matrix
  std::vector<std::int32_t> order;  ///< empty: that of the matrix
  std::string reason;               ///< for the choice, in one sentence
};

/// The largest ratio, over all processes, of the rows that a process needs from others in a product
/// with A to its own rows.
template <Scalar T>
double halo_share(const CsrView<T, HostSpace>& A, const RowRanges& ranges);

/// The same for a distributed A, on all processes of `processes`, which call it together.
template <Scalar T>
double halo_share(Processes& processes, const DistributedCsrView<T, HostSpace>& A);

/// Halos of at most this share of the rows of a process are small.
inline constexpr double kSmallHalo = 0.1;

/// METIS pays where its halo is at most so much of that of the rows in order.
inline constexpr double kWorthwhile = 0.5;

/// Why the rows of a matrix of `rows` rows and `entries` entries, which have the `natural` halo
/// share in their order, are taken in this order. Empty if METIS may do better, or is asked for.
/// `small`: a halo share up to which `automatic` asks METIS for none.
std::string reason_for_order(Distribution asked, double natural, Index rows, Index entries,
                             double small = kSmallHalo);

/// A partition of the rows of a symmetric A. Rows that a process takes keep their order.
/// `automatic` takes the rows in order where their halo is small, as with meshes that are numbered
/// along their longest side, and where METIS does not pay. Throws `InvalidArgument` if A has fewer
/// rows than there are processes, and if METIS was asked for and cannot be used. Rows are taken in
/// whole nodes of `node` consecutive rows, if their number is a multiple of it and there is a node
/// for each process.
template <Scalar T>
Partition partition(const CsrView<T, HostSpace>& A, int processes, Distribution asked,
                    Index node = 1);

/// A(order, order): row k and column k of the result are row and column order[k] of A.
template <Scalar T>
HostCsrMatrix<T> reordered(HostContext& context, const CsrView<T, HostSpace>& A,
                           const std::vector<std::int32_t>& order);

/// X(order, :), or with `back` the Y for which Y(order, :) = X.
template <Scalar T>
MultiVector<T, HostSpace> reordered(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                                    const std::vector<std::int32_t>& order, bool back = false);

}  // namespace heddle
