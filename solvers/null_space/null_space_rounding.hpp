#pragma once

#include <cmath>
#include <limits>

namespace heddle::detail {

/// Rounding errors, in ε, that the terms of condition (1) of `graph_null_space` may have in a row.
inline constexpr double kRoundingOfRow = 10;

/// The state of (1), a_ii d_i ≥ Σ |a_ij| d_j, in a row.
enum class Dominance { violated, equal, strict };

/// (1) for a row of `entries` entries with a_ii d_i = diagonal and Σ |a_ij| d_j = others. Sums that
/// are not finite violate it. T: the type of the entries.
template <class T>
Dominance dominance(double diagonal, double others, double entries) noexcept {
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double rounding = kRoundingOfRow * epsilon * std::sqrt(entries > 1 ? entries : 1.0) *
                          (std::abs(diagonal) + others);
  const double excess = diagonal - others;
  if (!(excess >= -rounding && std::isfinite(excess))) return Dominance::violated;
  return excess <= rounding ? Dominance::equal : Dominance::strict;
}

/// Whether a diagonal entry is 1 to rounding, as those of normalised Laplacians are.
template <class T>
bool is_unit(double diagonal) noexcept {
  constexpr double kRounding = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  return std::abs(diagonal - 1) <= kRounding;
}

}  // namespace heddle::detail
