#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/rectangular/triplet_criterion.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Singular values up to this share of ‖A‖₂ are zero to rounding.
template <Scalar T>
constexpr double kZero = 100 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

template <Scalar T>
bool orthonormal(const TripletErrors& errors) noexcept {
  return errors.orthogonality <= kOrthogonalityLimit<T>;
}

}  // namespace

TripletErrors TripletErrors::leading(Index count) const noexcept {
  const auto n = static_cast<std::size_t>(count);
  return {values.first(n), residuals.first(n),  orthogonality, norm,
          bounds.first(n), resolutions.first(n)};
}

double hidden_in_squares(double sigma, double root) noexcept {
  return root > 0 ? root * (root / (sigma + std::hypot(sigma, root))) : 0;
}

template <Scalar T>
double TripletCriterion<T>::allowed(double sigma, double norm) const noexcept {
  switch (criterion_) {
    case Criterion::eigenvalue:
    case Criterion::norm:
      return tolerance_ * norm;
    case Criterion::relative:
      return sigma > kZero<T> * norm ? tolerance_ * sigma : kZero<T> * norm;
    case Criterion::absolute:
      return tolerance_;
  }
  return 0;
}

template <Scalar T>
bool TripletCriterion<T>::passes(const TripletErrors& errors, Index triplet) const noexcept {
  const auto j = static_cast<std::size_t>(triplet);
  return errors.residuals[j] <= allowed(errors.values[j], errors.norm);
}

template <Scalar T>
bool TripletCriterion<T>::all_pass(const TripletErrors& errors) const noexcept {
  bool all = orthonormal<T>(errors);
  for (Index j = 0; all && j < std::ssize(errors.values); ++j) all = passes(errors, j);
  return all;
}

template <Scalar T>
double TripletCriterion<T>::rounding(double norm) noexcept {
  return 10 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) * norm;
}

/// The error of σ that is accepted where only another operator gives more digits.
template <Scalar T>
double TripletCriterion<T>::accepted(double sigma, double norm) const noexcept {
  switch (criterion_) {
    case Criterion::eigenvalue:
    case Criterion::relative:
      return std::max(tolerance_ * sigma, noise_floor(norm));
    default:
      return std::numeric_limits<double>::infinity();
  }
}

template <Scalar T>
bool TripletCriterion<T>::resolved(const TripletErrors& errors, Index triplet) const noexcept {
  const auto j = static_cast<std::size_t>(triplet);
  return errors.resolutions[j] <= accepted(errors.values[j], errors.norm);
}

template <Scalar T>
bool TripletCriterion<T>::has_digits(const TripletErrors& errors, Index triplet) const noexcept {
  if (criterion_ != Criterion::eigenvalue) return true;
  const auto j = static_cast<std::size_t>(triplet);
  return errors.bounds[j] + errors.resolutions[j] <=
         std::max(std::max(tolerance_, kSixDigits) * errors.values[j], noise_floor(errors.norm));
}

template <Scalar T>
bool TripletCriterion<T>::all_have_digits(const TripletErrors& errors) const noexcept {
  bool all = true;
  for (Index j = 0; all && j < std::ssize(errors.values); ++j) all = has_digits(errors, j);
  return all;
}

template <Scalar T>
Index TripletCriterion<T>::exact(const TripletErrors& errors) const noexcept {
  const auto is_exact = [&](Index j) {
    const auto at = static_cast<std::size_t>(j);
    return passes(errors, j) && resolved(errors, j) &&
           errors.bounds[at] <= accepted(errors.values[at], errors.norm);
  };
  Index count = 0;
  while (count < std::ssize(errors.values) && is_exact(count)) ++count;
  return count;
}

template <Scalar T>
double TripletCriterion<T>::value_excess(const TripletErrors& errors) const noexcept {
  double worst = 1;
  if (criterion_ != Criterion::eigenvalue) return worst;
  for (std::size_t j = 0; j < errors.values.size(); ++j) {
    const double limit = std::max(tolerance_ * errors.values[j], rounding(errors.norm));
    const double bound = errors.bounds[j];
    if (bound <= limit || limit == 0) continue;
    // Where the gap is known, errors are proportional to the squares of residuals.
    const bool quadratic = bound < 0.5 * errors.residuals[j];
    worst = std::max(worst, quadratic ? std::sqrt(bound / limit) : bound / limit);
  }
  return worst;
}

template <Scalar T>
double TripletCriterion<T>::worst_excess(const TripletErrors& errors) const noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double worst = orthonormal<T>(errors) ? 1 : kInfinity;
  for (std::size_t j = 0; j < errors.values.size(); ++j) {
    const double sigma = errors.values[j];
    const double error = std::min(errors.residuals[j], sigma);
    const double limit = allowed(sigma, errors.norm);
    if (error > limit) worst = std::max(worst, limit > 0 ? error / limit : kInfinity);
  }
  return worst;
}

template <Scalar T>
bool TripletCriterion<T>::left_vectors_missing(const TripletErrors& errors) const noexcept {
  return !all_pass(errors) && worst_excess(errors) <= 1;
}

template class TripletCriterion<float>;
template class TripletCriterion<double>;
template class TripletCriterion<std::complex<double>>;

}  // namespace heddle::detail
