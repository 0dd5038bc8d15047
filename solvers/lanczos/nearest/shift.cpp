#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/nearest/counts.hpp>
#include <heddle/solvers/lanczos/nearest/shift.hpp>

namespace heddle::detail {
namespace {

/// Where σ has no certain factor: the first distance of s from σ, in units of ‖A‖/‖B‖ + |σ|, and
/// how it grows.
constexpr double kFirstStep = 1e-9;
constexpr double kStepGrowth = 4;
constexpr double kLargestStep = 0.1;

/// The same where rows differ by 10⁶ and more, in units of |σ|: ‖A‖ says nothing of distances
/// there.
constexpr double kFirstGradedStep = 1e-3;
constexpr double kGradedStepGrowth = 16;

/// The largest ratio of the first |θ| to that of another wanted pair, whose digits its rounding
/// errors spoil.
template <Scalar T>
constexpr double kWidest = sizeof(RealOf<T>) == sizeof(double) ? 1e6 : 1e3;

/// The same where the basis spans the range of B, so that errors of F are the only ones.
template <Scalar T>
constexpr double kWidestInWhole = sizeof(RealOf<T>) == sizeof(double) ? 1e10 : 1e4;

/// The distance of a moved s from the eigenvalue that it was too near to, as a part of the distance
/// of the last wanted value.
constexpr double kBeside = 1e-2;

/// The same, in units of the distance of that eigenvalue, where others are too far away to be seen.
constexpr double kBesideHidden = 1e4;

/// Where σ has no certain factor, an eigenvalue that is apart from it by up to so many times the
/// rounding errors of values counts as σ, which lies on both sides.
constexpr double kNotApart = 10;

/// A σ of this many times ‖A‖/‖B‖ may lie far beyond the spectrum. It moves to a number whose size
/// is at most kFarther times that of the end of the spectrum, or kNearest times ‖A‖/‖B‖. No
/// eigenvalue may lie between σ and kBeyond σ.
constexpr double kFar = 10;
constexpr double kFarther = 16;
constexpr double kNearest = 1e-15;
constexpr double kBeyond = 0x1p20;

/// ‖F‖.
double largest(const LanczosValues& ritz) {
  return std::max(std::abs(ritz.value(0)), std::abs(ritz.value(ritz.order() - 1)));
}

}  // namespace

double rounding_near(double number, const EigenConvergence& convergence,
                     const NearestOptions& options) {
  if (options.definite == Definite::A) return convergence.noise_floor() * std::abs(number);
  return convergence.norm_B() > 0 ? convergence.unresolved(number) : 0;
}

template <Scalar T, class Ctx>
double NearestShift<T, Ctx>::unit() const {
  const double sigma = pairs_.target.sigma;
  double size = convergence_.scale(sigma) / convergence_.norm_B();
  if (pairs_.reciprocal) {
    size = sigma == 0 ? convergence_.norm_B() / convergence_.norm_A() : std::abs(sigma);
  }
  return size > 0 && std::isfinite(size) ? size : 1;
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::approach() {
  double far = std::abs(options_.sigma);
  double near = convergence_.norm_A() / convergence_.norm_B();
  if (options_.counts || pairs_.reciprocal || !(near > 0) || !(far > kFar * near)) return true;
  if (!std::isfinite(far * kBeyond)) return true;
  const auto below = [&](double size) -> std::optional<Index> {
    if (!inverse_.factor(context_, std::copysign(size, options_.sigma))) return std::nullopt;
    return inverse_.below();
  };
  engine_.begin_stage("looking for the spectrum");
  const std::optional<Index> beyond = below(kBeyond * far);
  if (!beyond || below(far) != beyond) return true;
  near = std::max(kNearest * near, std::numeric_limits<double>::min());
  if (below(near) == beyond) far = near;
  while (far > kFarther * near) {
    if (engine_.stop_requested()) return engine_.end_as_requested(), true;
    const double middle = std::sqrt(far) * std::sqrt(near);
    (below(middle) == beyond ? far : near) = middle;
  }
  pairs_.target.sigma = std::copysign(far, options_.sigma);
  pairs_.target.rounding = pairs_.target.noise = 0;
  far_ = true;
  // σ is a limit of one side, on which there is nothing, or of the other, on which there is all.
  return options_.sigma > 0 ? options_.lower != options_.sigma : options_.upper != options_.sigma;
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::place(double first_step) {
  Target& target = pairs_.target;
  double growth = kStepGrowth;
  const bool above = target.lower == target.sigma;
  const bool below = target.upper == target.sigma;
  double step = first_step;
  while (step <= std::max(first_step, kLargestStep * unit())) {
    // Beyond a limit, s counts all eigenvalues on the wanted side.
    const double first = below ? 1 : -1;
    for (const double sign : {first, -first}) {
      if (sign != first && (above || below) && !pairs_.reciprocal) continue;
      if (engine_.stop_requested()) return engine_.end_as_requested(), false;
      pairs_.shift = target.sigma + sign * step;
      moved_ = step > 0;
      engine_.begin_stage("factoring A - sigma B");
      if (inverse_.factor(context_, pairs_.shift)) {
        const double rounding = rounding_near(pairs_.shift, convergence_, options_);
        target.rounding = std::max(target.rounding, rounding);
        const double noise = moved_ ? kNotApart * rounding : rounding;
        if (!target.counted) target.noise = std::max(target.noise, noise);
        most_ = most_between<T, Ctx>(inverse_, options_, all_);
        return true;
      }
      if (step == 0) break;
    }
    if (step > 0) {
      step *= growth;
    } else {
      const bool graded = inverse_.graded() && target.sigma != 0;
      if (graded) growth = kGradedStepGrowth;
      step = graded ? kFirstGradedStep * std::abs(target.sigma) : kFirstStep * unit();
    }
  }
  moved_ = false;  // nothing was factored
  if (engine_.stop_requested()) return engine_.end_as_requested(), false;
  trouble_ = fmt::format("A - sigma B has no certain factor by {} for any number near sigma",
                         inverse_.library());
  engine_.end(SolveStatus::breakdown, trouble_);
  return false;
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::is_too_near(const LanczosValues& ritz, Index awaited) const {
  return ratio(ritz, awaited) > (pairs_.whole ? kWidestInWhole<T> : kWidest<T>);
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::spoils(const LanczosValues& ritz, Index awaited) const {
  return ratio(ritz, awaited) > kWidest<T>;
}

/// The ratio of the first θ to that of the last leading pair. 0 if pairs are missing.
template <Scalar T, class Ctx>
double NearestShift<T, Ctx>::ratio(const LanczosValues& ritz, Index awaited) const {
  if (pairs_.leading.empty() || std::ssize(pairs_.leading) != awaited) return 0;
  return largest(ritz) / std::abs(ritz.value(pairs_.leading.back()));
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::hides(const LanczosValues& ritz) const {
  const double rounding = rounding_of_F<T>(ritz);
  for (Index j = 0; j < ritz.order(); ++j) {
    if (std::abs(ritz.value(j)) <= rounding) return true;
  }
  return false;
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::move(const LanczosValues& ritz) {
  const double sigma = pairs_.target.sigma;
  double step = 2 * std::abs(pairs_.shift - sigma);
  const double last = pairs_.leading.empty() ? 0 : ritz.value(pairs_.leading.back());
  if (std::abs(last) > rounding_of_F<T>(ritz)) {
    step = std::max(step, kBeside * std::abs(pairs_.lambda_at(last) - sigma));
  }
  if (hides(ritz)) step = std::max(step, kBesideHidden / largest(ritz));
  return place(step);
}

template <Scalar T, class Ctx>
bool NearestShift<T, Ctx>::factor_again() {
  if (inverse_.factor(context_, pairs_.shift)) return true;
  engine_.end(SolveStatus::breakdown, "A - sigma B could not be factored again");
  return false;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestShift<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
