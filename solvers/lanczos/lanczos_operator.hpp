#pragma once

#include <functional>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <optional>
#include <utility>

namespace heddle {

using namespace detail;

/// C = B⁻¹A, or A where there is no B.
template <Scalar T, class Ctx>
class PencilOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  explicit PencilOperator(Index n) noexcept : LinearOperator<T, Ctx>(n, n) {}

  /// The operators of `problem` are kept by pointer; `AX` holds A X where there is a B.
  void set(const EigenProblem<T, Ctx>& problem, BlockView<T, Space> AX) noexcept;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;
  bool accumulate_block(Ctx& context, double alpha, ConstBlockView<T, Space> X, double beta,
                        BlockView<T, Space> Y) override;

 private:
  LinearOperator<T, Ctx>* A_ = nullptr;
  LinearOperator<T, Ctx>* B_inverse_ = nullptr;
  BlockView<T, Space> AX_;
};

/// A Chebyshev polynomial T_d((c − y)/e) with the interval [c − e, c + e] of y that it damps.
struct ChebyshevFilter {
  ChebyshevInterval interval;
  int degree = 2;  ///< d
};

/// What block Lanczos iterates on, an operator whose largest eigenvalues belong to the wanted ones
/// of C = B⁻¹A. With y = λ for the smallest and y = −λ for the largest eigenvalues of C the wanted
/// ones are the smallest y. It is one of three:
///
/// F = −y, C itself, as `set_problem` leaves it.
///
/// F = T_d((c − y)/e), a Chebyshev polynomial in C, maps the interval [c − e, c + e] of y to
/// [−1, 1] and grows fast below it: y is the eigenvalue θ = cosh(d·acosh((c − y)/e)) of F, larger
/// the smaller y is. Source: Rivlin, Chebyshev Polynomials, 1990, 1.1 (T_d on and outside of
/// [−1, 1]).
///
/// F = (A − σB)⁻¹B for y = λ > σ: θ = 1/(λ − σ).
template <Scalar T, class Ctx>
class LanczosOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Memory for blocks of up to `block` columns of length n. Throws `OutOfMemory`.
  LanczosOperator(Ctx& context, Index n, Index block);

  /// F = −y for C = B⁻¹A of `problem`, whose operators are kept by pointer.
  void set_problem(const EigenProblem<T, Ctx>& problem, Which which) noexcept;

  /// `stop` is asked between the products of a polynomial; once it says so, what `apply` leaves is
  /// unfinished and `stopped` true.
  void set_stop(std::function<bool()> stop) {
    stop_ = std::move(stop);
    stopped_ = false;
  }
  bool stopped() const noexcept { return stopped_; }

  /// F = T_d((c − y)/e).
  void set_filter(const ChebyshevFilter& filter) noexcept;

  /// F = (A − σB)⁻¹B, for the smallest end. `inverse` holds a factor and is kept by pointer;
  /// `reach`: about how far from σ the far end of the spectrum is.
  void set_inverse(ShiftedInverse<T, Ctx>& inverse, double reach) noexcept;

  /// The polynomial that damps lower ≤ y ≤ upper, of the degree that makes enough of y = wanted;
  /// nothing if it is not worth a change: the interval is hardly larger than before, or a degree
  /// of 3 would do.
  std::optional<ChebyshevFilter> filter_for(double wanted, double lower, double upper) const;

  bool inverts() const noexcept { return inverse_ != nullptr; }
  int degree() const noexcept { return filter_ ? filter_->degree : 1; }  ///< 1: no polynomial
  double upper() const noexcept { return filter_->interval.upper; }      ///< of the filter
  double lower() const noexcept { return filter_->interval.lower; }      ///< of the filter

  /// About how many products with A take as long as one with F.
  double effort() const noexcept;

  /// λ of y and y of λ.
  double turned(double value) const noexcept { return sign_ * value; }

  /// The y of which θ is the eigenvalue of F. A polynomial is not monotone in its interval, whose
  /// lower end stands for all θ ≤ 1.
  double position(double theta) const noexcept;

  /// The eigenvalue λ of C of which θ is the eigenvalue of F.
  double eigenvalue(double theta) const noexcept { return turned(position(theta)); }

  /// The θ of an eigenvalue λ of C, below the interval of a polynomial.
  double image(double lambda) const noexcept;

  /// How far θ stands above what F makes of the unwanted end; only for polynomials and inverses.
  double height(double theta) const noexcept { return inverts() ? theta : theta - 1; }

  /// For F x = θ x + r a bound on ‖C x − λ x‖ at λ = eigenvalue(θ), given ‖r‖. Under a polynomial
  /// |y − μ|/|θ − F(μ)| over the spectrum is largest at its upper end, as F is convex below the
  /// interval; with F = (C − σ)⁻¹ it is C x − λ x = −(C − σ) r/θ.
  double residual_bound(double theta, double residual) const noexcept;

  /// With an inverse: about how far from σ the far end of the spectrum is.
  double reach() const noexcept { return reach_; }

  /// With an inverse: about ‖A − σB‖/|λ − σ| in the norm of C, by which it magnifies rounding.
  double condition(double theta) const noexcept { return reach_ * theta; }

  /// Saves or loads what F is; `inverse`, null where there is none, is then factored again. Throws
  /// `Error` if it cannot be.
  void archive(Ctx& context, Archive& archive, ShiftedInverse<T, Ctx>* inverse);

  /// n×b of memory that is free between products.
  Block scratch() noexcept { return work_.view(); }

 protected:
  void apply_block(Ctx& context, ConstBlock X, Block Y) override;

 private:
  void apply_filter(Ctx& context, ConstBlock X, Block Y);

  PencilOperator<T, Ctx> C_;
  LinearOperator<T, Ctx>* B_ = nullptr;
  double sign_ = 1;
  std::function<bool()> stop_;
  bool stopped_ = false;
  std::optional<ChebyshevFilter> filter_;
  ShiftedInverse<T, Ctx>* inverse_ = nullptr;
  double reach_ = 0;
  Index block_;
  MultiVector<T, Space> work_;  // A X before B⁻¹, B X before the inverse
  std::optional<ChebyshevRecurrence<T, Ctx>> recurrence_;  // once there is a filter
};

}  // namespace heddle
