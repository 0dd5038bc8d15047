#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/preconditioners/multigrid/options.hpp>
#include <vector>

namespace heddle::detail {

/// A level of the hierarchy in host memory.
struct HierarchyLevel {
  HostCsrMatrix<double> A{};  ///< scaled to a diagonal of ones
  double upper_bound = 1;     ///< of the spectrum of A
  HostCsrMatrix<double> P{};  ///< from the next coarser level; empty on the coarsest
  Index aggregates = 0;       ///< of its nodes; 0 on the coarsest
  double seconds = 0;         ///< to make it
};

/// Levels of smoothed aggregation, the finest first.
struct Hierarchy {
  /// Holds the memory of the hierarchy where the matrix lies on a device.
  OwnedHostContext host{};
  Buffer<double, HostSpace> scaling;  ///< s with levels[0].A = diag(s) A diag(s)
  std::vector<HierarchyLevel> levels;
  /// The pseudoinverse of the coarsest level's A, with all its entries stored. Empty where that
  /// level is too large for it.
  HostCsrMatrix<double> coarse_inverse;
};

/// Makes the hierarchy of a symmetric positive semidefinite A. Levels are added, 20 at most, until
/// one has at most 300 rows, or the next one would have more than four fifths of its rows, or all
/// together would have more than 3 times the entries of A. Throws `InvalidArgument` if A is not
/// square, if it is found to be indefinite, or if the options do not fit, and `OutOfMemory`.
/// Source: Vaněk, Mandel, Brezina, Computing 56 (1996) 179.
Hierarchy make_hierarchy(HostContext& context, CsrView<double, HostSpace> A,
                         const MultigridOptions& options);

}  // namespace heddle::detail
