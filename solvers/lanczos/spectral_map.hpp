#pragma once

#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <optional>

namespace heddle::detail {

/// The Chebyshev polynomial T_d((c − y)/e), which damps the interval [c − e, c + e] of y.
struct ChebyshevFilter {
  ChebyshevInterval interval;
  int degree = 2;  ///< d
};

/// The relation between the eigenvalues λ of C = B⁻¹A and the eigenvalues θ of F, the operator that
/// block Lanczos iterates on.
///
/// With y = λ if the smallest eigenvalues are wanted, and y = −λ if the largest are, the wanted
/// eigenvalues are always the smallest y. F maps them to its largest θ. F is one of three
/// operators:
///
///     F = −y               C itself               θ = −y
///     F = T_d((c − y)/e)   a polynomial in C      θ = cosh(d·acosh((c − y)/e)) below the interval
///     F = (A − σB)⁻¹B      for y = λ > σ          θ = 1/(λ − σ)
///
/// The polynomial maps the interval [c − e, c + e] of y to [−1, 1] and grows fast below it. Source:
/// Rivlin, Chebyshev Polynomials, 1990, 1.1 (T_d on and outside of [−1, 1]).
class SpectralMap {
 public:
  /// F = −y.
  explicit SpectralMap(Which which = Which::smallest) noexcept
      : sign_(which == Which::smallest ? 1 : -1) {}

  /// Sets F = T_d((c − y)/e).
  void set_filter(const ChebyshevFilter& filter) noexcept { filter_ = filter; }

  /// Sets F = (A − σB)⁻¹B. `reach`: about the distance from σ to the far end of the spectrum.
  void set_inverse(double sigma, double reach) noexcept;

  /// 1 where y = λ, −1 where y = −λ.
  double sign() const noexcept { return sign_; }
  const std::optional<ChebyshevFilter>& filter() const noexcept { return filter_; }
  bool inverts() const noexcept { return inverts_; }
  double sigma() const noexcept { return sigma_; }  ///< of the inverse
  double reach() const noexcept { return reach_; }  ///< of the inverse

  /// The number of products with C per product with F. 1 for C itself and for an inverse.
  int degree() const noexcept { return filter_ ? filter_->degree : 1; }

  /// Whether F is a polynomial in C.
  bool filters() const noexcept { return filter_.has_value(); }

  /// y of λ.
  double y_of(double lambda) const noexcept { return sign_ * lambda; }

  /// Whether λ = a lies nearer to the wanted end than b.
  bool before(double a, double b) const noexcept { return y_of(a) < y_of(b); }

  /// The y that F maps to θ. A polynomial is not monotone in its interval. Therefore the result is
  /// the lower end of the interval for every θ ≤ 1.
  double y_at(double theta) const noexcept;

  /// The λ that F maps to θ.
  double lambda_at(double theta) const noexcept { return sign_ * y_at(theta); }

  /// θ of an eigenvalue λ of C. For a polynomial, λ must lie below its interval.
  double theta_of(double lambda) const noexcept;

  /// The distance of θ above the largest eigenvalue of F in the unwanted part of the spectrum: θ −
  /// 1 under a polynomial, about θ under an inverse. Not defined for C itself.
  double separation(double theta) const noexcept { return inverts_ ? theta : theta - 1; }

  /// A bound on ‖C x − λ x‖ with λ = lambda_at(θ), given `residual` = ‖F x − θ x‖.
  ///
  /// Under a polynomial it is the largest |y − μ|/|θ − F(μ)| over the spectrum times `residual`. F
  /// is convex below the interval, so the maximum is at the upper end of the interval. Under
  /// F = (C − σ)⁻¹, C x − λ x = −(C − σ) r/θ.
  double residual_bound(double theta, double residual) const noexcept;

  /// The ‖F x − θ x‖ for which `residual_bound` is `residual`. Not defined for an inverse.
  double residual_of_F(double theta, double residual) const noexcept;

  /// A bound of the error of λ if the eigenvalue of F differs from θ by up to `error`. Under an
  /// inverse it is the error of lambda_at(θ). Else it is that of the Rayleigh quotient of x, to
  /// which each eigenvector contributes in proportion to |y − μ|, as in `residual_bound`.
  double value_error(double theta, double error) const noexcept;

  /// Under an inverse: about ‖A − σB‖/|λ − σ| in the norm of C, the factor by which a solve
  /// magnifies rounding.
  double condition(double theta) const noexcept { return reach_ * theta; }

 private:
  double sign_;
  std::optional<ChebyshevFilter> filter_;
  bool inverts_ = false;
  double sigma_ = 0;
  double reach_ = 0;
};

}  // namespace heddle::detail
