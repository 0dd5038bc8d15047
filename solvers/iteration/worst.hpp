#pragma once

#include <cmath>

namespace heddle::detail {

/// worst ← the larger of both, or NaN if one of them is NaN. `std::max` could drop a NaN.
inline void keep_worst(double& worst, double value) noexcept {
  if (!(value <= worst || std::isnan(worst))) worst = value;
}

}  // namespace heddle::detail
