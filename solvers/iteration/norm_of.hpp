#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// √(Σ term(i)²) over first ≤ i < end, also where the squares leave the range of numbers. NaN if a
/// term is NaN.
template <class Term>
double norm_of(Index first, Index end, const Term& term) {
  double largest = 0;
  for (Index i = first; i < end; ++i) largest = std::max(largest, std::abs(term(i)));
  int exponent = 0;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  exponent = std::clamp(exponent, -1000, 1000);  // so that both powers of two are normal numbers
  const double scale = std::ldexp(1.0, -exponent);
  double square = 0;
  for (Index i = first; i < end; ++i) {
    const double scaled = scale * term(i);
    square += scaled * scaled;
  }
  return std::ldexp(std::sqrt(square), exponent);
}

}  // namespace heddle::detail
