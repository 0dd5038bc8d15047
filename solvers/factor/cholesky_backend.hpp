#pragma once

#include <complex>
#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// The pattern of A, without its values.
template <WideScalar W>
CsrView<double, HostSpace> pattern_of(const CsrView<W, HostSpace>& A) noexcept {
  return {A.rows, A.cols, A.nnz, A.row_offsets, A.columns, nullptr};
}

/// A library that orders and factors sparse symmetric or Hermitian matrices in host memory, in
/// double. The results do not depend on the number of threads.
class CholeskyBackend {
 public:
  virtual ~CholeskyBackend() = default;

  virtual std::string_view name() const noexcept = 0;

  /// The cost of ordering `rows` rows and counting the entries of L, in units of the cost per entry
  /// of A and column in a product of A with a block on the host. `factor`: the cost of L, which may
  /// be an estimate.
  virtual double order_cost(double rows, const FactorCost& factor) const noexcept = 0;

  /// The cost per operation of the factorisation, in the same units.
  virtual double operation_cost() const noexcept = 0;

  virtual double most_entries() const noexcept = 0;  ///< of a factor that can be indexed

  /// An order with little fill: row k of P A Pᵀ is row order[k] of A. Only the pattern of A is
  /// read, which is symmetric; A may have no values. Throws `OutOfMemory`.
  virtual std::vector<std::int32_t> order(const CsrView<double, HostSpace>& A) const = 0;

  /// Lᴴ of A = L Lᴴ, with the diagonal first in each row. `lower`: the lower triangle of A, with
  /// its whole diagonal, in an order of this backend. Nothing if A is not positive definite. Throws
  /// `OutOfMemory`.
  virtual std::optional<HostCsrMatrix<double>> factor(
      HostContext& context, const CsrView<double, HostSpace>& lower) const = 0;

  virtual std::optional<HostCsrMatrix<std::complex<double>>> factor(
      HostContext& context, const CsrView<std::complex<double>, HostSpace>& lower) const = 0;
};

/// Approximate minimum degree orders and a column-by-column factorisation by Eigen. Source:
/// Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886 (the order).
const CholeskyBackend& eigen_cholesky();

/// CHOLMOD, where heddle was built with it, else null. The order is an approximate minimum degree
/// order, or one by METIS where that leads to much fill. Dense blocks of columns (supernodes) are
/// factored by BLAS on one thread. Sources: Chen, Davis, Hager, Rajamanickam, ACM Trans. Math.
/// Softw. 35 (2008) 22 (CHOLMOD); Karypis & Kumar, SIAM J. Sci. Comput. 20 (1998) 359 (METIS).
const CholeskyBackend* cholmod_cholesky();

/// CHOLMOD where heddle was built with it, else Eigen.
const CholeskyBackend& best_cholesky();

}  // namespace heddle::detail
