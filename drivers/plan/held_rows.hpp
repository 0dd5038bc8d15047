#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <iterator>
#include <memory>
#include <vector>

/// Linear systems with rows that large diagonal entries hold, as a Dirichlet condition x_i = g by
/// penalty does: a_ii = 10¹² … 10³⁰ and b_i = a_ii g.
namespace heddle::detail {

/// The least ratio of the diagonal entry of a held row to the others of its row.
inline constexpr double kHold = 10;

/// The held rows of a linear system that dominate right-hand sides, and the part of the solution
/// that these rows determine alone.
///
/// A row i is held if a_ii ≥ 10 Σ_{j≠i} |a_ij| and a_ii ≥ 10 a_jj for all neighbours j that are
/// not held. With H the held and F the other rows, x̂_H = A_HH⁻¹b_H and x̂_F = 0, the system is
///
///     S A S y = b',  x = x̂ + S y,  b'_H = 0,  b'_F = b_F − A_FH x̂_H
///
/// where the powers of two of the diagonal S, 1 in F, bring the diagonal entries of H to the size
/// of those of F. The tolerance then is relative to ‖b'‖, which drives the rows of F, instead of
/// ‖b‖, relative to which their residuals vanish.
template <WideScalar W>
class HeldRowsOf {
 public:
  HeldRowsOf() = default;

  /// Looks for held rows of A with ‖b_H‖ ≥ 10 ‖b'‖ for a column of `rhs`. There are none in other
  /// problems than linear systems, in matrices that are not stored, and in those of which each
  /// process has made its own rows.
  HeldRowsOf(HostContext& context, const HostMatrix<W>& A, const HostBlock<W>& rhs,
             const Facts& facts, const Request& request);

  /// Whether there are none.
  bool empty() const noexcept { return rows_.empty(); }

  Index count() const noexcept { return std::ssize(rows_); }

  /// The largest absolute value of an entry of S A S.
  double largest_scaled() const noexcept { return scaled_.largest(); }

  /// Replaces A, B, the initial guess and a preconditioner M⁻¹ of the caller by those of the system
  /// for Y, M⁻¹ by S⁻¹ M⁻¹ S⁻¹.
  void eliminate(HostContext& context, HostProblem<W>& problem) const;

  /// x_F ← y_F, x_H ← A_HH⁻¹(b_H − A_HF x_F) in host memory, and a sentence about the held rows.
  void put_back(const std::shared_ptr<HostContext>& host, Solution& solution) const;

 private:
  /// X from Y.
  template <Scalar T>
  HostBlock<T> completed(const std::shared_ptr<HostContext>& host, const HostBlock<T>& Y) const;

  HostMatrix<W> A_;               // as given
  HostBlock<W> B_;                // as given
  HostMatrix<W> scaled_;          // S A S
  HostBlock<W> driving_;          // B'
  std::vector<int> exponents_;    // of S in H
  std::vector<double> diagonal_;  // of A, negative in F
  std::vector<Index> rows_;       // H, ascending
  double contrast_ = 0;           // the largest a_ii of H over the largest of F
  double share_ = 0;  // the largest ‖b‖/‖b'‖ of the columns, infinite where b' = 0
};

/// Those of real systems.
using HeldRows = HeldRowsOf<double>;

}  // namespace heddle::detail
