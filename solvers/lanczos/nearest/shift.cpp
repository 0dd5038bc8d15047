#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/nearest/counts.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>

/// The number s at which A − sB is factored.
namespace heddle::detail {
namespace {

/// Where σ has no certain factor: the first distance of s from σ, in units of ‖A‖/‖B‖ + |σ|, and
/// how it grows.
constexpr double kFirstStep = 1e-9;
constexpr double kStepGrowth = 4;
constexpr double kLargestStep = 0.1;

/// The largest ratio of the first |θ| to that of another wanted pair, whose digits its rounding
/// errors spoil.
template <Scalar T>
constexpr double kWidest = sizeof(T) == sizeof(double) ? 1e6 : 1e3;

/// The same where the basis spans the range of B, so that errors of F are the only ones.
template <Scalar T>
constexpr double kWidestInWhole = sizeof(T) == sizeof(double) ? 1e10 : 1e4;

/// The distance of a moved s from the eigenvalue that it was too near to, as a part of the distance
/// of the last wanted value.
constexpr double kBeside = 1e-2;

/// A σ of this many times ‖A‖/‖B‖ may lie far beyond the spectrum. It moves to a number whose size
/// is at most kFarther times that of the end of the spectrum, or kNearest times ‖A‖/‖B‖. No
/// eigenvalue may lie between σ and kBeyond σ.
constexpr double kFar = 10;
constexpr double kFarther = 16;
constexpr double kNearest = 1e-15;
constexpr double kBeyond = 0x1p20;

}  // namespace

template <Scalar T, class Ctx>
double NearestSolve<T, Ctx>::unit() const {
  const double sigma = pairs_.target.sigma;
  double size = convergence_.scale(sigma) / convergence_.norm_B();
  if (pairs_.reciprocal) {
    size = sigma == 0 ? convergence_.norm_B() / convergence_.norm_A() : std::abs(sigma);
  }
  return size > 0 && std::isfinite(size) ? size : 1;
}

/// The size of the rounding errors of values near `number`.
template <Scalar T, class Ctx>
double NearestSolve<T, Ctx>::rounding_at(double number) const {
  if (options_.definite == Definite::A) return convergence_.noise_floor() * std::abs(number);
  return convergence_.norm_B() > 0 ? convergence_.unresolved(number) : 0;
}

/// Moves a σ far beyond the spectrum, where differences λ − σ have no digits of λ, to the end of
/// the spectrum, from which the same pairs are the nearest ones.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::approach() {
  double far = std::abs(options_.sigma);
  double near = convergence_.norm_A() / convergence_.norm_B();
  if (options_.counts || pairs_.reciprocal || !(near > 0) || !(far > kFar * near)) return;
  if (!std::isfinite(far * kBeyond)) return;
  const auto below = [&](double size) -> std::optional<Index> {
    if (!inverse_.factor(context_, std::copysign(size, options_.sigma))) return std::nullopt;
    return inverse_.below();
  };
  engine_.begin_stage("looking for the spectrum");
  const std::optional<Index> beyond = below(kBeyond * far);
  if (!beyond || below(far) != beyond) return;
  near = std::max(kNearest * near, std::numeric_limits<double>::min());
  if (below(near) == beyond) far = near;
  while (far > kFarther * near) {
    if (engine_.stop_requested()) return engine_.end_as_requested();
    const double middle = std::sqrt(far) * std::sqrt(near);
    (below(middle) == beyond ? far : near) = middle;
  }
  pairs_.target.sigma = std::copysign(far, options_.sigma);
  pairs_.target.rounding = pairs_.target.noise = 0;
  far_ = true;
  // σ is a limit of one side, on which there is nothing, or of the other, on which there is all.
  const bool none =
      options_.sigma > 0 ? options_.lower == options_.sigma : options_.upper == options_.sigma;
  if (none) end_without_pairs();
}

/// Chooses s, at σ for a `first_step` of 0, else that far from it or farther. Ends the solve if
/// there is none.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::place_shift(double first_step) {
  Target& target = pairs_.target;
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
        const double rounding = rounding_at(pairs_.shift);
        target.rounding = std::max(target.rounding, rounding);
        if (!target.counted) target.noise = std::max(target.noise, rounding);
        on_side_ = most_between<T, Ctx>(inverse_, options_, n_);
        return true;
      }
      if (step == 0) break;
    }
    step = step == 0 ? kFirstStep * unit() : kStepGrowth * step;
  }
  trouble_ = fmt::format("A - sigma B has no certain factor by {} for any number near sigma",
                         inverse_.library());
  engine_.end(SolveStatus::breakdown, trouble_);
  return false;
}

/// Whether the first θ is so large that rounding spoils other leading pairs.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::shift_is_too_near() const {
  if (pairs_.leading.empty()) return false;
  const LanczosRitz& ritz = s_->ritz;
  const double largest = std::max(std::abs(ritz.value(0)), std::abs(ritz.value(ritz.order() - 1)));
  const double least = std::abs(ritz.value(pairs_.leading.back()));
  const double widest = pairs_.whole ? kWidestInWhole<T> : kWidest<T>;
  return std::ssize(pairs_.leading) == awaited() && largest > widest * least;
}

template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::move_shift() {
  const double sigma = pairs_.target.sigma;
  const double last = std::abs(pairs_.lambda_at(s_->ritz.value(pairs_.leading.back())) - sigma);
  return place_shift(std::max(kBeside * last, 2 * std::abs(pairs_.shift - sigma)));
}

/// The number of settled pairs between a limit and the s beyond it. `on_side_` includes them.
template <Scalar T, class Ctx>
Index NearestSolve<T, Ctx>::settled_beyond_limit() const {
  if (on_side_ == n_) return 0;
  const auto [first, last] = std::minmax(pairs_.shift, pairs_.target.sigma);
  Index count = 0;
  for (Index j = 0; j < s_->ritz.order(); ++j) {
    const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
    if (first < value && value < last && !pairs_.target.has(value) && settled(j)) ++count;
  }
  return count;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
