#pragma once

#include <cmath>
#include <limits>

namespace heddle::test {

/// The one tolerance rule of the tests: c·ε·√n·scale, with n the length of the sums involved and
/// scale the size of what is compared.
template <class T>
double tolerance(double scale, double n, double c = 16) {
  return c * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::sqrt(n < 1 ? 1 : n) *
         scale;
}

}  // namespace heddle::test
