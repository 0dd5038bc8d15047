#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/iteration/norm_of.hpp>
#include <limits>
#include <numeric>
#include <utility>

namespace heddle::detail {
namespace {

/// The nearest eigenvalue beyond the outermost Ritz value, on its side `sign`. If it is unknown, it
/// lies within all Ritz values.
double edge(double outermost, double distance, double sign) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return distance == ErrorBounds::kUnknown ? -sign * kInfinity : outermost + sign * distance;
}

}  // namespace

double ErrorBounds::change(double spread, double gap) noexcept {
  // Of [Θ Eᵀ; E M], ‖E‖ = `spread`, where the spectra of Θ and M are separated by `gap`.
  if (spread == 0 || !std::isfinite(spread)) return spread;
  if (std::isinf(gap)) return 0;
  return 2 * spread * (spread / (gap + std::hypot(gap, 2 * spread)));  // E² may underflow
}

void ErrorBounds::reserve(Index pairs) {
  const auto count = static_cast<std::size_t>(pairs);
  for (auto* list :
       {&values_, &residuals_, &couplings_, &bounds_, &spreads_, &highest_, &lowest_}) {
    list->reserve(count);
  }
  joint_.reserve(count);
  order_.reserve(count);
}

void ErrorBounds::clear() noexcept {
  for (auto* list : {&values_, &residuals_, &couplings_, &bounds_, &spreads_}) list->clear();
  joint_.clear();
  parts_ = {};
}

void ErrorBounds::add(double value, double residual, bool joint, double coupling) {
  values_.push_back(value);
  residuals_.push_back(residual);
  couplings_.push_back(coupling);
  joint_.push_back(joint ? 1 : 0);
}

void ErrorBounds::set_parts(std::span<const double> parts, Index others) noexcept {
  parts_ = parts;
  others_ = others;
}

void ErrorBounds::compute(double below, double above, double rest, Index placed) {
  spreads_ = bounds_ = residuals_;
  order_.resize(values_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  std::sort(order_.begin(), order_.end(), [&](Index i, Index j) {
    const auto at = [&](Index k) { return values_[static_cast<std::size_t>(k)]; };
    return std::pair(at(i), i) < std::pair(at(j), j);
  });
  const Index count = size();
  list_edges(placed);
  // A comparison with NaN is false, so that a residual that is NaN joins its neighbours.
  const auto apart = [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    return value(i) - residual(i) > value(i - 1) + residual(i - 1) &&
           lowest_[at] > highest_[at - 1];
  };
  for (Index first = 0, end = 0; first < count; first = end) {
    for (end = first + 1; end < count && !apart(end); ++end) {
    }
    const double down = std::max(
        rest, first > 0 ? value(first - 1) + residual(first - 1) : edge(value(first), below, -1));
    const double up = end < count ? value(end) - residual(end) : edge(value(end - 1), above, 1);
    bound_places(first, end, placed);
    bound_group(first, end, down, up);
    if (std::isinf(below) && first > 0) bound_group(0, end, std::max(rest, -below), up);
    if (std::isinf(above) && end < count) bound_group(first, count, down, above);
  }
}

/// Lists the highest upper edge of the intervals of placed pairs up to each place, and the lowest
/// lower edge from each place on.
void ErrorBounds::list_edges(Index placed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Index count = size();
  highest_.resize(values_.size());
  lowest_.resize(values_.size());
  double high = -kInfinity;
  double low = kInfinity;
  for (Index i = 0; i < count; ++i) {
    if (static_cast<Index>(place(i)) < placed) high = std::max(high, value(i) + residual(i));
    highest_[static_cast<std::size_t>(i)] = high;
  }
  for (Index i = count - 1; i >= 0; --i) {
    if (static_cast<Index>(place(i)) < placed) low = std::min(low, value(i) - residual(i));
    lowest_[static_cast<std::size_t>(i)] = low;
  }
}

/// Bounds those pairs of a cluster that were added before number `placed` by √(Σ ρ²) over them.
void ErrorBounds::bound_places(Index first, Index end, Index placed) {
  const auto is_placed = [&](Index i) { return static_cast<Index>(place(i)) < placed; };
  const double spread =
      norm_of(first, end, [&](Index i) { return is_placed(i) ? residual(i) : 0.0; });
  for (Index i = first; i < end; ++i) {
    if (is_placed(i)) spreads_[place(i)] = bounds_[place(i)] = spread;
  }
}

/// Bounds the pairs `first` … `end` − 1 together, where all other eigenvalues lie below `down` or
/// above `up`.
void ErrorBounds::bound_group(Index first, Index end, double down, double up) {
  for (Index i = first; i < end; ++i) {
    if (joint_[place(i)] == 0) return;
  }
  const double spread = norm_of(first, end, [&](Index i) { return residual(i); });
  const double rounding = norm_of(first, end, [&](Index i) { return couplings_[place(i)]; });
  const double coupling = end - first > 1 ? std::hypot(rounding, parts_within(first, end)) : 0;
  for (Index i = first; i < end; ++i) {
    const double gap = std::max(0.0, std::min(value(i) - down, up - value(i)));
    const double bound = change(spread, gap) + coupling;
    if (!(bound < bounds_[place(i)])) continue;
    bounds_[place(i)] = bound;
    spreads_[place(i)] = spread;
  }
}

/// The norm of the parts of `set_parts` between the pairs `first` … `end` − 1.
double ErrorBounds::parts_within(Index first, Index end) const noexcept {
  double norm = 0;
  for (Index i = first; i < end && !parts_.empty(); ++i) {
    const Index other = static_cast<Index>(place(i)) - others_;
    const bool has_parts = other >= 0 && (other + 1) * others_ <= std::ssize(parts_);
    if (!has_parts) continue;
    const std::span<const double> of_pair = parts_.subspan(
        static_cast<std::size_t>(other * others_), static_cast<std::size_t>(others_));
    for (Index j = first; j < end; ++j) {
      if (static_cast<Index>(place(j)) < others_) norm = std::hypot(norm, of_pair[place(j)]);
    }
  }
  return norm;
}

void PlaceIntervals::reserve(Index intervals) {
  for (auto* ends : {&lower_, &upper_, &sorted_lower_, &sorted_upper_}) {
    ends->reserve(static_cast<std::size_t>(intervals));
  }
}

void PlaceIntervals::clear(Which end) noexcept {
  end_ = end;
  for (auto* ends : {&lower_, &upper_}) ends->clear();
}

void PlaceIntervals::add(double lower, double upper) {
  lower_.push_back(lower);
  upper_.push_back(upper);
}

void PlaceIntervals::widen(std::span<const double> values, std::span<double> errors) {
  sorted_lower_ = lower_;
  sorted_upper_ = upper_;
  for (std::size_t j = 0; j < errors.size(); ++j) {
    const double error =
        std::isnan(errors[j]) ? std::numeric_limits<double>::infinity() : errors[j];
    sorted_lower_.push_back(values[j] - error);
    sorted_upper_.push_back(values[j] + error);
  }
  sort(sorted_lower_);
  sort(sorted_upper_);
  for (std::size_t j = 0; j < errors.size(); ++j) {
    // Differences of ends have rounding errors of their own, so that an unchanged bound is kept.
    const bool below = sorted_lower_[j] < values[j] - errors[j];
    const bool above = sorted_upper_[j] > values[j] + errors[j];
    if (below) errors[j] = std::max(errors[j], values[j] - sorted_lower_[j]);
    if (above) errors[j] = std::max(errors[j], sorted_upper_[j] - values[j]);
  }
}

void PlaceIntervals::sort(std::vector<double>& ends) const {
  std::sort(ends.begin(), ends.end());
  if (end_ == Which::largest) std::reverse(ends.begin(), ends.end());
}

}  // namespace heddle::detail
