#pragma once

#include <bit>
#include <cstdint>

/// Powers of two near a norm. The functions are `constexpr` integer arithmetic, so host and device
/// code share them.
namespace heddle {

/// The k for which `norm`·2^(-k) is at least 1 and less than 2, limited to ±1022. An infinite norm
/// has k = 1022. 0 and NaN have k = 0.
constexpr int norm_exponent(double norm) noexcept {
  constexpr int kBias = 1023;
  constexpr int kLimit = 1022;
  if (norm != norm || norm == 0) return 0;
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(norm) >> 52 & 0x7ff) - kBias;
  if (exponent < -kLimit) return -kLimit;
  return exponent < kLimit ? exponent : kLimit;
}

/// 2^k for k in −1022 … 1022.
constexpr double power_of_two(int k) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

}  // namespace heddle
