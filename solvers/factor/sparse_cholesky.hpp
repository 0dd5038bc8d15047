#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/factor/cholesky_backend.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::detail {

/// A pivot below this share of its diagonal entry is zero to rounding.
inline constexpr double kSmallestPivot = 256 * std::numeric_limits<double>::epsilon();

/// The sparse Cholesky factorisation P (A − σB) Pᵀ = L Lᴴ on the host, of matrices of W, for any
/// number of shifts σ. The backend chooses P and factors. P and the pattern of L depend only on the
/// patterns of A and B and are computed once. Source: Davis, Direct Methods for Sparse Linear
/// Systems, 2006, chapter 4.
template <WideScalar W>
class SparseCholeskyOf {
 public:
  /// Orders the rows. A and B are Hermitian of the same order and are not needed afterwards. A B
  /// without rows is the identity. `max_entries`: the most entries that L may have. `backend` is
  /// kept by reference.
  SparseCholeskyOf(HostContext& context, const CsrView<W, HostSpace>& A,
                   const CsrView<W, HostSpace>& B, double max_entries,
                   const CholeskyBackend& backend = best_cholesky());

  /// Counts the entries of L, and stops as soon as they exceed `max_entries`. Returns whether L has
  /// at most `max_entries` entries. If not, no other function may be called.
  bool analyse();

  /// The cost of L, after `analyse`.
  const FactorCost& cost() const noexcept { return cost_; }

  /// The permutation P as a list: row k of P X is row order()[k] of X.
  const std::vector<std::int32_t>& order() const noexcept { return order_; }

  /// Lᴴ, with the diagonal first in each row. Nothing if A − σB is not positive definite, or so
  /// nearly singular that a pivot is rounding noise relative to its diagonal entry. Solves with
  /// such an L would not be accurate.
  std::optional<HostCsrMatrix<W>> factor(HostContext& context, double sigma) const;

 private:
  const CholeskyBackend& backend_;
  std::vector<std::int32_t> order_;
  HostCsrMatrix<W> A_;  // lower triangle of P A Pᵀ, with zeros where only B has entries
  HostCsrMatrix<W> B_;  // lower triangle of P B Pᵀ, with the same pattern
  double max_entries_;
  FactorCost cost_;
};

/// That of real matrices.
using SparseCholesky = SparseCholeskyOf<double>;

}  // namespace heddle::detail
