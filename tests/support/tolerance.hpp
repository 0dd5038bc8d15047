#pragma once

#include <cmath>
#include <complex>
#include <limits>

namespace heddle::test {

/// The tolerance rule of all tests: c·ε·√n·scale, where n is the length of the sums and scale the
/// size of the compared values.
template <class T>
double tolerance(double scale, double n, double c = 16) {
  using Real = decltype(std::abs(T{}));
  return c * static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::sqrt(n < 1 ? 1 : n) *
         scale;
}

}  // namespace heddle::test
