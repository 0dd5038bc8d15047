#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {

/// The sparse Cholesky factorisation P (A − σB) Pᵀ = L Lᵀ for any number of σ, on the host. P, an
/// approximate minimum degree order, and the size of L follow from the pattern of A and B alone,
/// before any number is computed. Sources: Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17
/// (1996) 886 (the order); Davis, Direct Methods for Sparse Linear Systems, 2006, chapter 4.
class SparseCholesky {
 public:
  /// Analyses the pattern, until L has more than `max_entries`. A and B, symmetric of one order,
  /// may go afterwards; B without rows is the identity.
  SparseCholesky(HostContext& context, const CsrView<double, HostSpace>& A,
                 const CsrView<double, HostSpace>& B, double max_entries);

  /// Whether L has `max_entries` at most; if not, there is nothing else to be had.
  bool fits() const noexcept { return fits_; }

  /// Entries of L.
  double entries() const noexcept { return entries_; }

  /// Multiplications that making L takes, Σ c² over the lengths c of its columns.
  double operations() const noexcept { return operations_; }

  /// The row of A at each place of the order: row k of P X is row order()[k] of X.
  const std::vector<std::int32_t>& order() const noexcept { return order_; }

  /// Lᵀ, its diagonal first in each row. Nothing where A − σB is not positive definite or, by a
  /// pivot that is rounding noise beside its diagonal entry, hardly: L would be of no use.
  std::optional<HostCsrMatrix<double>> factor(HostContext& context, double sigma) const;

 private:
  void count_entries(double max_entries);

  std::vector<std::int32_t> order_;
  HostCsrMatrix<double> A_;  // lower triangle of P A Pᵀ, with zeros where only B has entries
  HostCsrMatrix<double> B_;  // that of P B Pᵀ likewise: of the same pattern
  double entries_ = 0;
  double operations_ = 0;
  bool fits_ = true;
};

}  // namespace heddle::detail
