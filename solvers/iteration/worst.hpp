#pragma once

#include <cmath>

namespace heddle::detail {

/// worst ← the larger of both; NaN if one is, which `std::max` would drop.
inline void keep_worst(double& worst, double value) noexcept {
  if (!(value <= worst || std::isnan(worst))) worst = value;
}

}  // namespace heddle::detail
