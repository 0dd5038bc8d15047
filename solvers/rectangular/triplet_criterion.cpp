#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/rectangular/triplet_criterion.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Singular values up to this share of ‖A‖₂ are zero to rounding.
template <Scalar T>
constexpr double kZero = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());

template <Scalar T>
bool orthonormal(const TripletErrors& errors) noexcept {
  return errors.orthogonality <= kOrthogonalityLimit<T>;
}

}  // namespace

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
  return 10 * static_cast<double>(std::numeric_limits<T>::epsilon()) * norm;
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

}  // namespace heddle::detail
