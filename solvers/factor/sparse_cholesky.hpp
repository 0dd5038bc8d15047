#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/factor/cholesky_backend.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {

/// The sparse Cholesky factorisation P (A − σB) Pᵀ = L Lᵀ on the host, for any number of shifts σ.
/// The backend chooses P and factors. P and the pattern of L depend only on the patterns of A and B
/// and are computed once. Source: Davis, Direct Methods for Sparse Linear Systems, 2006, chapter 4.
class SparseCholesky {
 public:
  /// Orders the rows. A and B are symmetric of the same order and are not needed afterwards. A B
  /// without rows is the identity. `max_entries`: the most entries that L may have. `backend` is
  /// kept by reference.
  SparseCholesky(HostContext& context, const CsrView<double, HostSpace>& A,
                 const CsrView<double, HostSpace>& B, double max_entries,
                 const CholeskyBackend& backend = best_cholesky());

  /// Counts the entries of L, and stops as soon as they exceed `max_entries`. Returns whether L has
  /// at most `max_entries` entries. If not, no other function may be called.
  bool analyse();

  /// The cost of L, after `analyse`.
  const FactorCost& cost() const noexcept { return cost_; }

  /// The permutation P as a list: row k of P X is row order()[k] of X.
  const std::vector<std::int32_t>& order() const noexcept { return order_; }

  /// Lᵀ, with the diagonal first in each row. Nothing if A − σB is not positive definite, or so
  /// nearly singular that a pivot is rounding noise relative to its diagonal entry. Solves with
  /// such an L would not be accurate.
  std::optional<HostCsrMatrix<double>> factor(HostContext& context, double sigma) const;

 private:
  const CholeskyBackend& backend_;
  std::vector<std::int32_t> order_;
  HostCsrMatrix<double> A_;  // lower triangle of P A Pᵀ, with zeros where only B has entries
  HostCsrMatrix<double> B_;  // lower triangle of P B Pᵀ, with the same pattern
  double max_entries_;
  FactorCost cost_;
};

}  // namespace heddle::detail
