#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <numeric>
#include <utility>

namespace heddle::detail {
namespace {

/// The largest change of an eigenvalue of [Θ Eᵀ; E M] by E, ‖E‖² = `square`, where the spectra of Θ
/// and M are separated by `gap`.
double change_by_coupling(double square, double gap) {
  if (std::isinf(gap) || square == 0) return 0;
  return 2 * square / (gap + std::sqrt(gap * gap + 4 * square));
}

}  // namespace

void ErrorBounds::reserve(Index pairs) {
  const auto count = static_cast<std::size_t>(pairs);
  for (std::vector<double>* list : {&values_, &residuals_, &bounds_}) list->reserve(count);
  order_.reserve(count);
}

void ErrorBounds::clear() noexcept {
  for (std::vector<double>* list : {&values_, &residuals_, &bounds_}) list->clear();
}

void ErrorBounds::add(double value, double residual) {
  values_.push_back(value);
  residuals_.push_back(residual);
}

void ErrorBounds::compute(double below, double above) {
  bounds_ = residuals_;
  order_.resize(values_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  const auto value = [&](std::size_t i) { return values_[static_cast<std::size_t>(order_[i])]; };
  const auto residual = [&](std::size_t i) {
    return residuals_[static_cast<std::size_t>(order_[i])];
  };
  std::sort(order_.begin(), order_.end(), [&](Index i, Index j) {
    const auto at = [&](Index k) { return values_[static_cast<std::size_t>(k)]; };
    return std::pair(at(i), i) < std::pair(at(j), j);
  });
  const std::size_t count = order_.size();
  // A comparison with NaN is false, so that a residual that is NaN joins its neighbours.
  const auto apart = [&](std::size_t i) {
    return value(i) - residual(i) > value(i - 1) + residual(i - 1);
  };
  for (std::size_t first = 0, end = 0; first < count; first = end) {
    double square = 0;
    for (end = first; end == first || (end < count && !apart(end)); ++end) {
      square += residual(end) * residual(end);
    }
    const double down = first > 0 ? value(first) - (value(first - 1) + residual(first - 1)) : below;
    const double up = end < count ? value(end) - residual(end) - value(end - 1) : above;
    const double change = change_by_coupling(square, std::min(down, up));
    for (std::size_t i = first; i < end; ++i) {
      double& bound = bounds_[static_cast<std::size_t>(order_[i])];
      if (change < bound) bound = change;
    }
  }
}

}  // namespace heddle::detail
