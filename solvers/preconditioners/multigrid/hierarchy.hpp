#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/preconditioners/multigrid/options.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::detail {

/// A level of the hierarchy.
template <class Space>
struct HierarchyLevel {
  /// Scaled to a diagonal of ones. Distributed levels come first.
  DistributedCsr<double, Space> A{};
  double upper_bound = 1;  ///< of the spectrum of A
  DistributedCsr<double, Space> P{},
      Pt{};  ///< from and to the next coarser level; empty on the coarsest
  /// Of the last distributed level, else empty: the identity G with all rows on every process and
  /// distributed columns. The next level is held whole by every process, so its right-hand side is
  /// G Pᵀ r, where Pᵀ r is distributed. P then has all columns on every process.
  std::optional<DistributedCsr<double, Space>> gather{};
  Index aggregates = 0;  ///< of its nodes on this process; 0 on the coarsest
  double seconds = 0;    ///< to make it
};

/// Levels of smoothed aggregation, the finest first, in the memory of `Space`.
template <class Space>
struct Hierarchy {
  Buffer<double, Space> scaling{};  ///< s with levels[0].A = diag(s) A diag(s)
  std::vector<HierarchyLevel<Space>> levels{};
  /// The pseudoinverse of the coarsest level's A, with all its entries stored. Empty where that
  /// level is too large for it.
  CsrMatrix<double, Space> coarse_inverse{};
  double roundoff = std::numeric_limits<double>::epsilon();  ///< of the entries of A
};

/// Makes the hierarchy of a symmetric positive semidefinite A. Levels are added, 20 at most, until
/// one has at most 300 rows, or the next one would have more than four fifths of its rows, or all
/// together would have more than 3 times the entries of A. Throws `InvalidArgument` if A is not
/// square, if it is found to be indefinite, or if the options do not fit, and `OutOfMemory`.
/// `roundoff` is the machine epsilon of the type that the entries of A were rounded to. Stiff parts
/// of a semidefinite A have negative eigenvalues of its size then, which do not count.
///
/// Everything is made where A lies, except for the inverse of the coarsest level, which may be
/// computed on the host. Both backends make the same aggregates, and the same values up to
/// rounding.
///
/// Of a distributed A, aggregates consist of nodes of one process. Levels are distributed as A is,
/// until one has at most 4000 rows. That one is gathered: every process has the whole of it and of
/// all coarser levels, and makes the same numbers of them. All processes call it together, and all
/// throw the same error. The levels are made on the host, of `CudaContext` too. The near null
/// vectors of the options are those of the rows of this process. Source: Vaněk, Mandel, Brezina,
/// Computing 56 (1996) 179.
template <class Ctx>
Hierarchy<typename Ctx::Space> make_hierarchy(
    Ctx& context, DistributedCsrView<double, typename Ctx::Space> A,
    const MultigridOptions& options, double roundoff = std::numeric_limits<double>::epsilon());

}  // namespace heddle::detail
