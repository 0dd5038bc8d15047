#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/convergence.hpp>

namespace heddle::detail {
namespace {

/// A settled value changes per step by at most this share of the allowed residual.
constexpr double kSettled = 0.01;

/// Rounding changes a value, which is a mean over a vector, by less than it adds to a residual.
/// This is the share of the noise floor of residuals that counts as rounding of a value.
constexpr double kValueNoise = 0.1;

/// The size of the rows where a vector lives counts this many times, because it is a mean that is
/// below the size of the largest of these rows.
constexpr double kRowsOfVector = 10;

}  // namespace

EigenConvergence::EigenConvergence(Criterion criterion, double tolerance, double norm_A,
                                   double norm_B, double epsilon) noexcept
    : criterion_(criterion),
      tolerance_(tolerance),
      norm_A_(norm_A),
      norm_B_(norm_B),
      epsilon_(epsilon) {}

double EigenConvergence::scale(double lambda) const noexcept {
  return norm_A_ + std::abs(lambda) * norm_B_;
}

double EigenConvergence::scaled_residual(double lambda, double residual) const noexcept {
  return residual == 0 ? 0 : residual / scale(lambda);
}

double EigenConvergence::allowed(double lambda) const noexcept {
  double size = 1;
  if (criterion_ == Criterion::norm || bounds_values()) size = scale(lambda);
  if (criterion_ == Criterion::relative) size = std::abs(lambda) * norm_B_;
  return tolerance_ * size;
}

bool EigenConvergence::passes(double lambda, double residual, double factor) const noexcept {
  return residual <= factor * allowed(lambda);
}

double EigenConvergence::rounding(double lambda, double size_A, double size_B) const noexcept {
  return leniency_ * kRoundingOfValues * epsilon_ * (size_A + std::abs(lambda) * size_B);
}

double EigenConvergence::largest_zero() const noexcept {
  return kRoundingOfValues * epsilon_ * (norm_B_ > 0 ? norm_A_ / norm_B_ : norm_A_);
}

double EigenConvergence::unresolved(double lambda) const noexcept {
  const double noise = noise_floor() * scale(lambda);
  return norm_B_ > 0 ? noise / norm_B_ : noise;
}

bool EigenConvergence::takes_for_zero(double lambda) const noexcept {
  return !bounds_values() && std::abs(lambda) * norm_B_ <= allowed(lambda);
}

bool EigenConvergence::is_zero(double lambda, double error) const noexcept {
  const double zero = leniency_ * largest_zero() * norm_B_;
  return std::abs(lambda) * norm_B_ <= zero && error <= zero;
}

EigenConvergence EigenConvergence::at_rounding() const noexcept {
  EigenConvergence lenient = *this;
  lenient.leniency_ = noise_floor() / (kRoundingOfValues * epsilon_);
  return lenient;
}

EigenConvergence EigenConvergence::at_noise() const noexcept {
  if (!is_relative_to_norms()) return *this;
  EigenConvergence other = *this;
  other.tolerance_ = std::max(tolerance_, kAboveNoise * noise_floor());
  return other;
}

EigenConvergence EigenConvergence::in_rows(double size) const noexcept {
  EigenConvergence local = *this;
  const double norm_B = norm_B_ > 0 ? norm_B_ : 1;
  local.norm_A_ = std::min(norm_A_, kRowsOfVector * size * norm_B);
  return local;
}

bool EigenConvergence::leaves_digits(double lambda, double bound, double most, double a,
                                     double b) const noexcept {
  const double size = std::abs(lambda);
  const double explained = std::min(most * size, noise_floor() * (kRowsOfVector * a + size * b));
  return bound <= std::max({kSixDigits * size, tolerance_ * size, explained});
}

bool EigenConvergence::value_passes(double lambda, double bound, double rounding,
                                    double factor) const noexcept {
  if (!bounds_values()) return true;
  const double digits = leniency_ > 1 ? std::max(tolerance_, kSixDigits) : tolerance_;
  return bound <= std::max(factor * digits * std::abs(lambda), rounding);
}

bool EigenConvergence::limited(double lambda, double bound, double rounding) const noexcept {
  const double wanted = tolerance_ * std::abs(lambda);
  return (leniency_ > 1 || bound <= std::max(rounding, wanted)) && bound + rounding > wanted;
}

bool EigenConvergence::all_at_noise(std::span<const double> scaled_residuals) const noexcept {
  const double noise = kAboveNoise * noise_floor();
  return !scaled_residuals.empty() && std::all_of(scaled_residuals.begin(), scaled_residuals.end(),
                                                  [&](double each) { return each <= noise; });
}

bool EigenConvergence::settled(double lambda, double change) const noexcept {
  const double rounding = kValueNoise * noise_floor() * scale(lambda);
  const double digits = std::sqrt(tolerance_) * std::abs(lambda) * norm_B_;
  return change * norm_B_ <= std::max(kSettled * std::min(allowed(lambda), digits), rounding);
}

}  // namespace heddle::detail
