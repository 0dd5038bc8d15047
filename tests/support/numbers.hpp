#pragma once

#include <algorithm>
#include <complex>
#include <heddle/linalg/context/scalar.hpp>
#include <limits>
#include <string>
#include <vector>

/// Numbers of every scalar type, for tests that are written once for real and complex ones.
namespace heddle::test {

/// re + im i, or re if T is real.
template <Scalar T>
T number(double re, double im) {
  if constexpr (kComplex<T>) {
    return {re, im};
  } else {
    return static_cast<T>(re);
  }
}

/// The number whose parts `draw` returns one after the other.
template <Scalar T, class Draw>
T drawn(Draw&& draw) {
  const double re = draw();
  return number<T>(re, kComplex<T> ? draw() : 0);
}

/// NaN in each part.
template <Scalar T>
T not_a_number() {
  return number<T>(std::numeric_limits<double>::quiet_NaN(),
                   std::numeric_limits<double>::quiet_NaN());
}

/// Each value ← its absolute value.
template <Scalar T>
void take_magnitudes(std::vector<T>& values) {
  std::transform(values.begin(), values.end(), values.begin(), [](T x) { return std::abs(x); });
}

/// |x − y|.
template <Scalar T>
double distance(T x, T y) {
  return std::abs(Wide<T>(x) - Wide<T>(y));
}

template <Scalar T>
std::string text_of(T x) {
  if constexpr (kComplex<T>) {
    return std::to_string(x.real()) + " + " + std::to_string(x.imag()) + " i";
  } else {
    return std::to_string(x);
  }
}

}  // namespace heddle::test
