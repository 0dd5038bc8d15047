#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle::detail {

/// The norms in which the errors of eigenvalues of A x = λ B x are bounded.
///
/// Residuals r = A x − λ B x are measured in the norm of B⁻¹, for which
///
///     ‖r‖² ≤ Σ_i r_i²/d_i / μ,   μ ≤ λ_min of D⁻¹B,   D = diag(d), d the row sums of |B|.
///
/// μ is estimated by Lanczos steps, with a safety factor. It is 1 for a diagonal B, and D = I where
/// the entries of B are not available. Mass matrices of finite elements have μ from 0.05 to 1.
///
/// Rounding changes a value by about ε(|x|ᵀ|A||x| + |λ| |x|ᵀ|B||x|)/xᵀBx. The sizes |x|ᵀ|A||x| are
/// bounded by Σ_i a_i x_i², a the row sums of |A|, or by ‖A‖₁‖x‖² where the entries of A are not
/// available. The error of a sum grows with its terms: a row of m > 20 entries counts m/20 times.
///
/// An x that is inexact in a row of a huge a_i, such as that of a penalty, makes this size huge,
/// although the exact eigenvector is not in that row. What rounding allows is therefore measured by
/// the size of the rows where x lives,
///
///     (Σ_i b_i x_i² (a_i/b_i)^(1/4) / Σ_i b_i x_i²)⁴,   b_i the row sums of |B|,
///
/// to which a row with a small part of x adds little. It is at most a few times smaller than
/// Σ_i a_i x_i² where x is spread over rows that differ 10⁴ times.
/// Source of μ in finite elements: Wathen, IMA J. Numer. Anal. 7 (1987) 449.
template <Scalar T, class Ctx>
class ErrorNorms {
 public:
  using Space = typename Ctx::Space;
  using ConstBlock = ConstBlockView<T, Space>;
  using Numbers = SmallView<double, Space>;

  ErrorNorms() = default;

  /// Memory for vectors of n rows in this process. `pencil`: whether there is a B.
  ErrorNorms(Ctx& context, Index n, bool pencil);

  /// Computes the weights of a problem, and μ, which takes some products with B.
  void prepare(Ctx& context, const EigenProblem<T, Ctx>& problem);

  /// Queues for each column r of R a number (b×1) that `dual_norm` takes.
  void measure_residuals(Ctx& context, ConstBlock R, Numbers numbers) const;

  /// An upper bound of ‖r‖ in the norm of B⁻¹. Infinite for a singular B. `norm`: ‖r‖₂, which
  /// counts where squares underflow.
  double dual_norm(double number, double norm) const noexcept;

  /// Queues for each column x of X a number (b×1) that `size_A` takes.
  void measure_sizes_A(Ctx& context, ConstBlock X, Numbers numbers) const;

  /// An upper bound of |x|ᵀ|A||x|. `norm_A`: ‖A‖₁.
  double size_A(double number, double norm_A) const noexcept;

  /// Queues for each column x of X a number (b×1) that `size_of_rows` takes.
  void measure_rows(Ctx& context, ConstBlock X, Numbers numbers) const;

  /// The size of the rows of A where x lives, at least the harmonic mean of all rows that are not
  /// zero: rounding errors in other rows reach the rows of isolated vertices of a graph. `size_B`:
  /// the number that `measure_sizes_B` gives for x. `norm_A`: ‖A‖₁, which is the result where the
  /// entries of A are not available.
  double size_of_rows(double number, double size_B, double norm_A) const noexcept;

  /// The same for B.
  void measure_sizes_B(Ctx& context, ConstBlock X, Numbers numbers) const;
  double size_B(double number, double norm_B) const noexcept;

  double mu() const noexcept { return mu_; }

 private:
  double estimate_mu(Ctx& context, LinearOperator<T, Ctx>& B);
  double fetch_number(Ctx& context);
  double norm_D(Ctx& context, ConstBlock x);

  void weigh_rows(Ctx& context, const RowRange& rows);

  MultiVector<T, Space> weights_A_;            // a
  MultiVector<T, Space> roots_;                // b (a/b)^(1/4)
  MultiVector<T, Space> weights_B_, inverse_;  // d, 1/d
  MultiVector<T, Space> work_;                 // four vectors of the Lanczos steps
  SmallMatrix<double, Space> number_;
  double harmonic_mean_ = 0;    // of the a that are not 0
  double norm_of_inverse_ = 0;  // √(Σ 1/d²), at least the largest 1/d
  bool weighs_A_ = false;
  bool weighs_B_ = false;
  double mu_ = 1;
};

/// The columns that `ErrorNorms` holds, see `padded_columns`.
inline double error_norm_columns(bool pencil, std::size_t scalar_size) noexcept {
  const double vector = padded_columns(1, scalar_size);  // of weights
  return pencil ? 4 * vector + padded_columns(4, scalar_size) : 2 * vector;
}

}  // namespace heddle::detail
