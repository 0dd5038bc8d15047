#pragma once

#include <cstdint>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/distributed/row_ranges.hpp>
#include <string>
#include <vector>

namespace heddle {

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
