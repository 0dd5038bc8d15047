#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// Bytes that the setup of multigrid would move in the time that it takes, at the speed of
/// products: per byte of A in double precision, and for a matrix of any size.
struct SetupBytes {
  double per_byte = 0;
  double fixed = 0;
};

inline constexpr SetupBytes kSetupOnHost{120, 1e8};
inline constexpr SetupBytes kSetupOnGpu{500, 7e10};
/// Of several processes with a GPU each, which make the levels on the host. Reckoned from the other
/// two and 8 cores for each GPU, not measured.
inline constexpr SetupBytes kSetupBesideGpus{1e4, 7e10};

/// The work of multigrid against chebyshev for one matrix and block width, in products of the
/// matrix with the block. It is counted, not measured, so that equal problems get equal choices.
/// Constants: docs/methods/preconditioners.md, "auto".
class MultigridCosts {
 public:
  /// `scalar_size`: bytes per scalar of the preconditioner.
  MultigridCosts(Index rows, Index nnz, Index block, std::size_t scalar_size,
                 const SetupBytes& setup = kSetupOnHost) noexcept;

  bool one_column() const noexcept { return block_ == 1; }

  /// Making the levels.
  double setup() const noexcept { return setup_; }

  /// The degree of chebyshev from which multigrid saves its setup in a usual solve for eigenpairs.
  double least_degree() const noexcept;

  /// The same for a change within the solve, when the Ritz values have become small.
  double least_degree_within_solve() const noexcept;

  /// The degree that a block of eigenpairs at the smallest end will ask for, if `root` is the
  /// square root of the condition number of A, scaled to a diagonal of ones.
  double expected_degree(double root) const noexcept;

  /// Whether multigrid saves its setup in a solve of linear systems with a condition number of A,
  /// scaled to a diagonal of ones, whose square root is `root`.
  bool pays_for(double root) const noexcept;

  /// Whether CG with the diagonal alone takes less work than with chebyshev, whose polynomial
  /// leaves a number of iterations however small the condition number is. Of solves on the host.
  bool diagonal_suffices(double root) const noexcept;

  /// Whether multigrid saves its setup in a solve with one column on the host that has begun with
  /// the diagonal, with which it would take `steps` more.
  bool pays_after(double steps) const noexcept;

  /// Whether an incomplete factor saves work in such a solve: where it is long, and the matrix so
  /// small that triangular solves, on few threads, cost hardly more than what is around a product.
  bool incomplete_factor_pays_after(double steps) const noexcept;

  /// The time of a solve of linear systems on the host, in products of A with one column as
  /// `ShiftedInverse` counts them: of `steps` steps with one column and the diagonal, of a solve
  /// with chebyshev, and of one with multigrid, its setup included.
  double columns_of_steps(double steps) const noexcept;
  double columns_of_chebyshev(double root) const noexcept;
  double columns_of_multigrid() const noexcept;

  /// The number of columns whose solves with a complete factor take as long as all of a solve of
  /// linear systems in addition to the operations of the factorisation: the solves and copies of
  /// the factor.
  double columns_of_factor() const noexcept;

 private:
  double chebyshev_products(double root) const noexcept;
  double multigrid_products() const noexcept;
  double columns_of_entries(double entries) const noexcept;
  double columns_of_products(double products) const noexcept;

  double rows_, entries_;
  double product_;  // bytes that one moves
  double setup_;
  double block_;
};

}  // namespace heddle::detail
