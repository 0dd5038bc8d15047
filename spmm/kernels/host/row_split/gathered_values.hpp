#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// Behaves like a pointer to values that are stored in another order: value k is
/// values[positions[k]].
template <Scalar T>
struct GatheredValues {
  const T* values;
  const std::uint32_t* positions;

  T operator[](Index k) const noexcept { return values[positions[k]]; }

  friend GatheredValues operator+(const GatheredValues& from, Index k) noexcept {
    return {from.values, from.positions + k};
  }
};

}  // namespace heddle::detail
