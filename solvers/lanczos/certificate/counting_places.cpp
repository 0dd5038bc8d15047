#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/lanczos/certificate/counting_places.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

/// The distance of a place from the last value, in units of the mean distance of the values.
constexpr double kPart = 0.05;

/// The same without such a distance: a part of the last value, or of ‖A‖/‖B‖ for a zero.
constexpr double kPartOfValue = 1e-2;
constexpr double kPartOfScale = 1e-11;

/// The factors on these distances in later attempts.
constexpr double kFactorsBeyond[CountingPlaces::kBeyond] = {1, 1.6, 8, 64, 512, 4096};
constexpr double kFactorsBefore[CountingPlaces::kBefore] = {1, 30, 900, 27000};

/// A factor is certain at this distance from an eigenvalue, in units of the rounding of ‖A‖/‖B‖.
constexpr double kCertain = 1e4;

/// A place is this many times farther from each value than the bound of its error.
constexpr double kMargin = 2;

/// A count at a place that lies nearer to the last value than `kSixDigits` of it is a proof. So is
/// one within the bound of the error, as long as that is no larger part of the value than this.
constexpr double kVague = 1e-3;

}  // namespace

CountingPlaces::CountingPlaces(std::vector<double> keys, double error, double tolerance,
                               double scale, double reach)
    : keys_(std::move(keys)), error_(kMargin * error), scale_(scale), reach_(reach) {
  const double last = std::abs(keys_.back());
  constexpr double kRounding = 16 * std::numeric_limits<double>::epsilon();
  error_ = std::max(error_, kRounding * last);
  alike_ = std::max(tolerance * last, 2 * error_);
  proof_ = std::max(tolerance * last, kSixDigits * last);
  if (!vague()) proof_ = std::max(proof_, alike_);
}

bool CountingPlaces::vague() const noexcept {
  return error_ > std::max(kVague * std::abs(keys_.back()), kPartOfScale * scale_);
}

bool CountingPlaces::usable() const noexcept {
  return std::isfinite(error_) && std::isfinite(keys_.front()) && std::isfinite(keys_.back());
}

std::optional<CountingPlace> CountingPlaces::gap() const noexcept {
  if (!(reach_ > beyond(0).key) || !std::isfinite(reach_)) return std::nullopt;
  return CountingPlace{reach_, std::ssize(keys_), true};
}

CountingPlace CountingPlaces::beyond(int attempt) const noexcept {
  const double last = keys_.back();
  const auto distances = static_cast<double>(keys_.size() - 1);
  double part = keys_.size() > 1 ? kPart * (last - keys_.front()) / distances : 0;
  if (part <= alike_) {
    part = std::max({alike_, kPartOfValue * std::abs(last), kPartOfScale * scale_});
  }
  return {last + kFactorsBeyond[attempt] * part, std::ssize(keys_), true};
}

std::optional<CountingPlace> CountingPlaces::at_bound() const noexcept {
  const double rounding = std::numeric_limits<double>::epsilon() * scale_;
  if (error_ < kCertain * rounding || 2 * error_ >= alike_) return std::nullopt;
  const double key = keys_.back() - error_;
  const double reached = key + error_ / kMargin;  // by values whose errors keep the bound
  const auto found =
      std::count_if(keys_.begin(), keys_.end(), [&](double each) { return each <= reached; });
  return CountingPlace{key, static_cast<Index>(found), true};
}

std::optional<CountingPlace> CountingPlaces::before(int attempt) const noexcept {
  const double last = keys_.back();
  const double edge = last - kFactorsBefore[attempt] * alike_;
  double widest = 0;
  CountingPlace place;
  for (std::size_t i = keys_.size(); i-- > 0 && keys_[i] >= edge;) {
    const double lower = i > 0 ? std::max(keys_[i - 1], edge) : edge;
    const double gap = keys_[i] - lower;
    if (gap <= widest) continue;
    widest = gap;
    place = {keys_[i] - gap / 2, static_cast<Index>(i), false};
  }
  if (widest < 2 * error_) return std::nullopt;
  place.proves = last - place.key <= proof_;
  return place;
}

}  // namespace heddle::detail
