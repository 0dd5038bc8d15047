#pragma once

#include <cmath>
#include <cstdint>
#include <heddle/linalg/context/context.hpp>
#include <initializer_list>
#include <iterator>

namespace heddle::lab {

/// Random numbers that a seed determines on every machine (splitmix64).
class Draw {
 public:
  explicit Draw(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t bits() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  /// In [low, high).
  double uniform(double low, double high) noexcept {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
  }

  /// With a uniform logarithm.
  double log_uniform(double low, double high) noexcept {
    return std::exp(uniform(std::log(low), std::log(high)));
  }

  /// From low to high, both included.
  Index integer(Index low, Index high) noexcept {
    return low + static_cast<Index>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }

  bool chance(double p) noexcept { return uniform(0, 1) < p; }

  template <class T>
  T one_of(std::initializer_list<T> values) noexcept {
    return *(std::begin(values) + integer(0, std::ssize(values) - 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace heddle::lab
