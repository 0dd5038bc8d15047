#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {

/// The sparse Cholesky factorisation P (A − σB) Pᵀ = L Lᵀ on the host, for any number of shifts σ.
/// P is an approximate minimum degree order. P and the pattern of L depend only on the patterns of
/// A and B and are computed once. Sources: Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17
/// (1996) 886 (the order); Davis, Direct Methods for Sparse Linear Systems, 2006, chapter 4.
class SparseCholesky {
 public:
  /// Analyses the pattern, and stops as soon as L has more than `max_entries` entries. A and B are
  /// symmetric of the same order and are not needed afterwards. A B without rows is the identity.
  SparseCholesky(HostContext& context, const CsrView<double, HostSpace>& A,
                 const CsrView<double, HostSpace>& B, double max_entries);

  /// Whether L has at most `max_entries` entries. If not, no other function may be called.
  bool fits() const noexcept { return fits_; }

  /// The number of entries of L.
  double entries() const noexcept { return entries_; }

  /// The number of multiplications of the factorisation: Σ c² over the lengths c of the columns of
  /// L.
  double operations() const noexcept { return operations_; }

  /// The permutation P as a list: row k of P X is row order()[k] of X.
  const std::vector<std::int32_t>& order() const noexcept { return order_; }

  /// Lᵀ, with the diagonal first in each row. Nothing if A − σB is not positive definite, or so
  /// nearly singular that a pivot is rounding noise relative to its diagonal entry. Solves with
  /// such an L would not be accurate.
  std::optional<HostCsrMatrix<double>> factor(HostContext& context, double sigma) const;

 private:
  void count_entries(double max_entries);

  std::vector<std::int32_t> order_;
  HostCsrMatrix<double> A_;  // lower triangle of P A Pᵀ, with zeros where only B has entries
  HostCsrMatrix<double> B_;  // lower triangle of P B Pᵀ, with the same pattern
  double entries_ = 0;
  double operations_ = 0;
  bool fits_ = true;
};

}  // namespace heddle::detail
