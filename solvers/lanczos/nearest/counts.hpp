#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <heddle/solvers/lanczos/nearest/verification.hpp>
#include <optional>
#include <string>

/// Counts of eigenvalues by the signs of pivots.
namespace heddle::detail {

/// The number of eigenvalues below the shift of the last factor: from the first one on, or, where A
/// is definite, from 0 on, and negative below it.
template <Scalar T, class Ctx>
Index counted_below(const IndefiniteInverse<T, Ctx>& inverse, Definite definite) {
  return definite == Definite::A && inverse.shift() < 0 ? -inverse.below() : inverse.below();
}

/// The numbers of eigenvalues below the ends. Nothing if a factor is not certain.
template <Scalar T, class Ctx>
std::optional<LimitCounts> counts_at(Ctx& context, IndefiniteInverse<T, Ctx>& inverse,
                                     const NearestOptions& options, const CountedInterval& ends) {
  LimitCounts counts = options.counts.value_or(LimitCounts{});
  const auto known = [&](double end, double limit) {
    return (options.counts && end == limit) || (end == 0 && options.definite == Definite::A);
  };
  if (!known(ends.lower, options.lower)) {
    if (!inverse.factor(context, ends.lower)) return std::nullopt;
    counts.lower = counted_below(inverse, options.definite);
  }
  if (!known(ends.upper, options.upper)) {
    if (!inverse.factor(context, ends.upper)) return std::nullopt;
    counts.upper = counted_below(inverse, options.definite);
  }
  return counts;
}

/// The most eigenvalues that may lie between the limits, as far as the last factor shows it, of n.
template <Scalar T, class Ctx>
Index most_between(const IndefiniteInverse<T, Ctx>& inverse, const NearestOptions& options,
                   Index n) {
  const double shift = inverse.shift();
  const bool beyond = shift >= options.upper, before = shift <= options.lower;
  if (options.definite == Definite::B) {
    return beyond ? inverse.below() : before ? n - inverse.below() : n;
  }
  const bool from_0 = options.sigma != 0 && (beyond ? options.lower : options.upper) == 0;
  return (beyond || before) && from_0 ? inverse.below() : n;
}

/// Why the A that `inverse` holds is not certainly positive definite. Empty if it is.
template <Scalar T, class Ctx>
std::string not_definite(Ctx& context, IndefiniteInverse<T, Ctx>& inverse) {
  if (!inverse.factor(context, 0)) {
    return "A is not positive definite: it is singular to rounding";
  }
  if (inverse.below() == 0) return {};
  return fmt::format("A is not positive definite: it has {} negative eigenvalues", inverse.below());
}

/// The number of finite eigenvalues between the limits, for a definite A. Nothing if no factor is
/// certain. `pairs`: keeps the size that it has counted up to.
template <Scalar T, class Ctx>
std::optional<Index> count_finite(Ctx& context, IndefiniteInverse<T, Ctx>& inverse,
                                  const NearestOptions& options, NearestPairs& pairs) {
  const double largest = pairs.target.finite;
  pairs.finite_counted = true;
  for (const double share : {1.0, 1e-1, 1e-2, 1e-3, 1e-4}) {
    const double limit = share * largest;
    const CountedInterval all{std::max(options.lower, -limit), std::min(options.upper, limit)};
    const std::optional<LimitCounts> counts = counts_at<T, Ctx>(context, inverse, options, all);
    if (!counts) continue;
    pairs.target.finite = limit;
    return counts->between();
  }
  return std::nullopt;
}

}  // namespace heddle::detail
