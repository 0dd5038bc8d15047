#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <vector>

/// Pencils whose rows differ so much in size that ‖A‖ says nothing of the smallest eigenvalues.
namespace heddle::detail {

/// The sizes of the rows of a pencil (A, B).
struct RowGrading {
  /// The ratio of the largest to the smallest a_i/b_i, the sizes of row i of A and of B.
  double span = 1;
  double least = 0;  ///< the smallest of these ratios. 0 if all rows are zero
  /// Rows that penalties hold: their diagonal entries exceed the sum of their other entries, and
  /// the diagonal entries of their neighbours, by a factor of 10⁶ and more. Only the reason of a
  /// result has their number. `HeldRows` solves such rows apart, which is exact from a factor of 10
  /// on; smaller factors than 10⁶ are those of graded rows here, too.
  Index held = 0;
  /// e_i: a_i 4^(e_i) lies between 1/2 and 2. 0 for a row of zeros.
  std::vector<int> exponents{};
};

/// The grading of (A, B). Both are stored and symmetric. A B without rows is the identity. The size
/// of row i of A is
///
///     a_i = max(|a_ii|, max_j |a_ij| min(1, |a_ij|/|a_jj|)) − σ b_ii
///
/// so that no entry of D^(−1/2) A D^(−1/2) with D = diag(a_i) is larger than about 1, and that of
/// row i of B is b_ii. The bound σ ≤ 0 of the smallest eigenvalue, from principal submatrices of
/// order 2, counts because A − σB is factored. For pairs `inside` the spectrum it is left out. Rows
/// of zeros do not count. Source: Demmel & Veselić, SIAM J. Matrix Anal. Appl. 13 (1992) 1204
/// (rounding changes the eigenvalues of a matrix scaled in this way by small parts of themselves).
RowGrading grading_of(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B,
                      bool inside = false);

}  // namespace heddle::detail
