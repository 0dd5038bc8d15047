#pragma once

#include <algorithm>
#include <heddle/solvers/problem/options.hpp>
#include <limits>
#include <span>

namespace heddle::detail {

/// The largest max |XᵀBX − I| for which eigenvectors, or the left or right singular vectors, count
/// as orthonormal.
template <Scalar T>
inline constexpr double kOrthogonalityLimit =
    1e4 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// The largest |xᵀBy − δ| for which x and y count as orthonormal. `size`: ‖B‖₁‖x‖‖y‖. Rounding
/// changes xᵀBy by up to ε·size, which matters for an ill conditioned B, where size may reach its
/// condition number.
template <Scalar T>
double orthogonality_limit(double size) noexcept {
  constexpr double kRoundings = 10 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  return std::max(kOrthogonalityLimit<T>, kRoundings * size);
}

/// Six digits: the part of a value that the bound of its error may be where rounding, or the
/// method, gives no more, unless the tolerance is larger.
inline constexpr double kSixDigits = 1e-6;

/// The convergence criterion of an eigenproblem, with the norms of its operators. Residual norms
/// here are ‖A x − λ B x‖₂ / ‖x‖₂.
class EigenConvergence {
 public:
  EigenConvergence() = default;

  /// `norm_A`, `norm_B`: ‖A‖₁ and ‖B‖₁ or estimates of them, 1 for B = I. `epsilon`: machine
  /// precision of the scalar.
  EigenConvergence(Criterion criterion, double tolerance, double norm_A, double norm_B,
                   double epsilon) noexcept;

  double tolerance() const noexcept { return tolerance_; }
  double norm_A() const noexcept { return norm_A_; }
  double norm_B() const noexcept { return norm_B_; }

  /// The divisor of residual norms in results: ‖A‖₁ + |λ| ‖B‖₁.
  double scale(double lambda) const noexcept;

  /// residual / scale(lambda), and 0 for 0/0.
  double scaled_residual(double lambda, double residual) const noexcept;

  /// The limit of the criterion for the residual at λ.
  double allowed(double lambda) const noexcept;

  /// Whether the residual is at most `factor` times the limit of the criterion at λ. False for NaN.
  bool passes(double lambda, double residual, double factor = 1) const noexcept;

  /// A value is a sum of products of rounded numbers. The error of such a sum is at most this many
  /// ε times the sum of their absolute values.
  static constexpr double kRoundingOfValues = 10;

  /// The error that rounding leaves in the value λ of x with xᵀBx = 1: 10 ε(|x|ᵀ|A||x| +
  /// |λ| |x|ᵀ|B||x|), given bounds of these sizes.
  double rounding(double lambda, double size_A, double size_B) const noexcept;

  /// Whether the criterion accepts a value λ whose error is at most `bound`. True for all criteria
  /// but `eigenvalue`, whose limit is max(factor·tolerance·|λ|, rounding). False for NaN.
  bool value_passes(double lambda, double bound, double rounding, double factor = 1) const noexcept;

  /// Whether rounding keeps the error of λ, at most bound + rounding, from being at most
  /// tolerance·|λ|.
  bool limited(double lambda, double bound, double rounding) const noexcept;

  /// Whether λ is zero to the rounding of A, 10 ε‖A‖₁, and so is `error`: its residual, or the
  /// bound of its error times ‖B‖₁. Such a value counts as limited by rounding. More copies of zero
  /// than a block has columns would otherwise have no gap, and rounding errors at isolated vertices
  /// of a graph are no scale.
  bool is_zero(double lambda, double error) const noexcept;

  /// Whether the criterion tells λ from zero no more, as a tolerance does that is larger than the
  /// value. Never for the criterion `eigenvalue`.
  bool takes_for_zero(double lambda) const noexcept;

  /// The largest |λ| that may be rounding of zero: 10 ε‖A‖₁/‖B‖₁.
  double largest_zero() const noexcept;

  /// Eigenvalues nearer than this to λ are not told apart by a solve that ends where residuals are
  /// rounding: the noise floor of its residual, 100 ε(‖A‖₁ + |λ| ‖B‖₁)/‖B‖₁.
  double unresolved(double lambda) const noexcept;

  /// The criterion for values that no iteration improves any more. Values pass whose residuals are
  /// at the noise floor, see `residual_is_rounding`. So do values whose errors are at most 1e-6 |λ|
  /// or ten times the rounding errors, as far as the noise floor of residuals.
  EigenConvergence at_rounding() const noexcept;

  /// Whether the criterion compares residuals with `scale`, as the noise floor does.
  bool is_relative_to_norms() const noexcept {
    return criterion_ == Criterion::norm || bounds_values();
  }

  /// The criterion with a tolerance that residuals of `all_at_noise` pass, if it compares them with
  /// `scale`. Other criteria stay as they are.
  EigenConvergence at_noise() const noexcept;

  /// The criterion for a pair whose vector lives in rows of A of the given size, as `ErrorNorms`
  /// has it, for which `is_zero` and `residual_is_rounding` measure what rounding allows. At most
  /// ‖A‖₁ counts. Huge rows in which an eigenvector is almost 0 say nothing of the digits of its
  /// value.
  EigenConvergence in_rows(double size) const noexcept;

  /// Whether an error of at most `bound` leaves λ digits: it is at most 10⁻⁶ |λ|, or at most
  /// `most` |λ| and what rounding explains, 100 ε(10 a + |λ| b), for a vector in rows of A of size
  /// a and of B of size b, xᵀBx = 1. A bound above this is that of a method, not of the problem.
  bool leaves_digits(double lambda, double bound, double most, double a, double b) const noexcept;

  /// Whether the residual is below the noise floor.
  bool residual_is_rounding(double lambda, double residual) const noexcept {
    return residual <= noise_floor() * scale(lambda);
  }

  /// Whether this is a criterion from `at_rounding`.
  bool is_at_rounding() const noexcept { return leniency_ > 1; }

  /// Whether the criterion depends on the errors of values.
  bool bounds_values() const noexcept { return criterion_ == Criterion::eigenvalue; }

  /// Whether a step that changed the value λ by `change` shows that λ has settled: the change is at
  /// most a hundredth of what the criterion allows and of √tolerance |λ| ‖B‖₁, or it is rounding.
  ///
  /// A small residual shows only that λ is near some eigenvalue. A value that still changes may not
  /// yet be near the wanted one. This matters where ‖A‖ is much larger than the wanted eigenvalues,
  /// as with penalty terms in a stiffness matrix: the allowed residual may then exceed λ itself.
  bool settled(double lambda, double change) const noexcept;

  /// Below this share of `scale` a residual is rounding noise: 100 ε.
  double noise_floor() const noexcept { return 100 * epsilon_; }

  /// The largest ratio of residuals to the noise floor at which a failed check is attributed to
  /// rounding.
  static constexpr double kAboveNoise = 10;

  /// Whether there are residuals, given as shares of `scale`, and all are at most
  /// `kAboveNoise` times the noise floor. A check that such pairs fail is attributed to rounding.
  /// False for NaN.
  bool all_at_noise(std::span<const double> scaled_residuals) const noexcept;

 private:
  Criterion criterion_ = Criterion::norm;
  double tolerance_ = 0;
  double norm_A_ = 0;
  double norm_B_ = 1;
  double epsilon_ = std::numeric_limits<double>::epsilon();
  double leniency_ = 1;  // factor on the rounding errors of values
};

}  // namespace heddle::detail
