#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/slices/slice_sizes.hpp>
#include <heddle/solvers/lanczos/slices/solve.hpp>
#include <limits>

/// The counts at the ends of the interval, and the places of the factors of slices.
namespace heddle::detail {
namespace {

/// Where a number has no certain factor: the first distance of the next one that is tried, in units
/// of ‖A‖/‖B‖ + |λ|, and how it grows.
constexpr double kFirstDistance = 1e-9;
constexpr double kDistanceGrowth = 4;
constexpr double kLargestDistance = 0.1;

/// An end farther out than so many ‖A‖/‖B‖ is replaced by a number beyond the spectrum, if there is
/// one between them. Such numbers are tried in steps of this factor.
constexpr double kFarEnd = 2;
constexpr double kFarGrowth = 4;
constexpr int kFarTries = 40;

/// A factor is placed well if this part of the pairs of a slice lies below it, at least and at
/// most. It is tried so often.
constexpr double kLeastBelow = 0.15;
constexpr double kMostBelow = 0.85;
constexpr int kTries = 12;

/// A place is not looked for between numbers nearer to each other than this part of a slice: a
/// factor so near to copies of a value would spoil the digits of others.
constexpr double kNarrow = 0.01;

/// Up to this number of pairs, the middle of a slice is good enough.
constexpr Index kFew = 4;

/// The unit of the coordinate asinh(λ/unit) in which every other try halves a slice, relative to
/// the larger end: eigenvalues may lie at distances of very different sizes from 0.
constexpr double kLogUnit = 1e-8;

}  // namespace

/// The first number from `end` on outwards with a certain factor. An end is counted a tolerance
/// farther out: values whose error bounds reach across an end belong to the interval.
template <Scalar T, class Ctx>
std::optional<typename SliceSolve<T, Ctx>::Counted> SliceSolve<T, Ctx>::count_outwards(
    double end, double direction) {
  const double size = convergence_.scale(end) / convergence_.norm_B();
  const double unit = size > 0 ? size : 1;  // any number has a factor beside A = 0
  const double margin = std::max(convergence_.unresolved(end), options_.tolerance * std::abs(end));
  double step = 0;
  while (step <= kLargestDistance * unit) {
    if (engine_.stop_requested()) return engine_.end_as_requested(), std::nullopt;
    const double at = end + direction * (margin + step);
    engine_.begin_stage("counting eigenvalues");
    if (inverse_.factor(context_, at)) return Counted{at, inverse_.below()};
    step = step == 0 ? kFirstDistance * unit : kDistanceGrowth * step;
  }
  if (engine_.stop_requested()) return engine_.end_as_requested(), std::nullopt;
  end_with(SolveStatus::breakdown,
           fmt::format("A - sigma B has no certain factor by {} for any number near sigma = {:g}",
                       inverse_.library(), end));
  return std::nullopt;
}

/// A number beyond all eigenvalues with a smaller absolute value than `most`. Nothing if there is
/// none.
template <Scalar T, class Ctx>
std::optional<typename SliceSolve<T, Ctx>::Counted> SliceSolve<T, Ctx>::count_beyond(
    double direction, double most) {
  const double ratio = convergence_.norm_A() / convergence_.norm_B();
  double distance = kFarEnd * (ratio > 0 && std::isfinite(ratio) ? ratio : 1);
  for (int tries = 0; tries < kFarTries && distance < most; ++tries) {
    if (engine_.stop_requested()) return engine_.end_as_requested(), std::nullopt;
    engine_.begin_stage("counting eigenvalues");
    if (inverse_.factor(context_, direction * distance)) {
      const Index outside = direction < 0 ? inverse_.below() : n_ - inverse_.below();
      if (outside == 0) return Counted{direction * distance, inverse_.below()};
    }
    distance *= kFarGrowth;
  }
  return std::nullopt;
}

/// Counts the eigenvalues below both ends of the interval, unless the solve ends.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::count_both_ends() {
  const auto counted = [&](double end, double direction) -> std::optional<Counted> {
    if (direction * end > 0 || std::isinf(end)) {
      if (const auto beyond = count_beyond(direction, std::abs(end))) return beyond;
      if (engine_.ended()) return std::nullopt;
    }
    if (std::isfinite(end)) return count_outwards(end, direction);
    end_with(SolveStatus::breakdown,
             "no number beyond the spectrum was found: the ends of the interval must be finite");
    return std::nullopt;
  };
  const auto lower = counted(options_.lower, -1);
  if (!lower) return;
  const auto upper = counted(options_.upper, 1);
  if (!upper) return;
  interval_ = {lower->at,
               upper->at,
               {lower->below, std::max(upper->below, lower->below)},
               pairs_per_slice(n_, inverse_.factor_entries(), block_)};
}

/// A number in the bracket below which about `target` eigenvalues lie.
template <Scalar T, class Ctx>
double SliceSolve<T, Ctx>::guess(const Slice& slice, const Bracket& bracket, Index target,
                                 int tries) const {
  const Counted& low = bracket.low;
  const Counted& high = bracket.high;
  const double ahead = spacing_ * static_cast<double>(target - slice.counts.lower);
  if (tries == 0 && ahead > 0 && slice.lower + ahead < slice.upper) return slice.lower + ahead;
  if (tries % 2 == 1) {
    const double unit = kLogUnit * std::max(std::abs(slice.lower), std::abs(slice.upper));
    const double middle = 0.5 * (std::asinh(low.at / unit) + std::asinh(high.at / unit));
    const double at = unit * std::sinh(middle);
    if (at > low.at && at < high.at) return at;
  }
  const double part = static_cast<double>(target - low.below) /
                      static_cast<double>(std::max<Index>(high.below - low.below, 1));
  return low.at + std::clamp(part, 0.05, 0.95) * (high.at - low.at);
}

/// Chooses σ in the slice such that `wanted` pairs nearest to it reach down to the lower limit.
/// Counts on the way that lie above these pairs shorten the slice: the part beyond becomes a slice.
/// Nothing if the slice was only split.
template <Scalar T, class Ctx>
std::optional<double> SliceSolve<T, Ctx>::place(Slice& slice, Index& wanted) {
  if (slice.counts.between() <= kFew) {
    wanted = slice.counts.between();
    return 0.5 * (slice.lower + slice.upper);
  }
  Bracket bracket{{slice.lower, slice.counts.lower}, {slice.upper, slice.counts.upper}};
  for (int tries = 0; tries < kTries; ++tries) {
    if (bracket.high.at - bracket.low.at < kNarrow * (slice.upper - slice.lower)) break;
    if (engine_.stop_requested()) {
      slices_.push_back(slice);
      return engine_.end_as_requested(), std::nullopt;
    }
    const auto most = static_cast<double>(std::min(slice.pairs, slice.counts.between()));
    const Index target = slice.counts.lower + static_cast<Index>(0.5 * most);
    const double at = guess(slice, bracket, target, tries);
    engine_.begin_stage("factoring A - sigma B");
    if (!inverse_.factor(context_, at)) continue;
    const Counted here{at, inverse_.below()};
    const auto below = static_cast<double>(here.below - slice.counts.lower);
    if (below < kLeastBelow * most) {
      bracket.low = here;
    } else if (below > kMostBelow * most) {
      bracket.high = here;
      if (here.below - slice.counts.lower >= slice.pairs) split(slice, here);
    } else {
      wanted = std::min(std::max(2 * (here.below - slice.counts.lower) + 1, slice.pairs / 2),
                        slice.counts.between());
      return at;
    }
  }
  // No place divides the pairs, as where most of them are copies of one value.
  const Index together = bracket.high.below - bracket.low.below;
  wanted = std::min(std::max(slice.pairs, together), slice.counts.between());
  return 0.5 * (bracket.low.at + bracket.high.at);
}

/// Ends the slice where eigenvalues were counted. The part beyond becomes a slice.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::split(Slice& slice, const Counted& here) {
  slices_.push_back({here.at, slice.upper, {here.below, slice.counts.upper}, interval_.pairs});
  slice.upper = here.at;
  slice.counts.upper = here.below;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SliceSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
