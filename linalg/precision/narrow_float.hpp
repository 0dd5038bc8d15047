#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// Number types with fewer digits than single precision, as tensor cores multiply them.
namespace heddle {

/// A binary floating-point number in the encodings of IEEE 754: sign, kExponent bits of exponent,
/// kFraction bits of fraction, in this order from the highest bit of Storage. Lower bits are 0.
/// Subnormal numbers, infinities and NaN are encoded as in IEEE 754. It stores and converts; a
/// computation converts to float, which is exact, and rounds its result.
template <class Storage, int kExponent, int kFraction>
struct NarrowFloat {
  /// The number of lowest bits of Storage that are 0.
  static constexpr int kUnused = 8 * static_cast<int>(sizeof(Storage)) - 1 - kExponent - kFraction;
  /// The exponent of 1 as it is stored.
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static_assert(kUnused >= 0 && kExponent <= 8 && kFraction < 23);

  /// 2^exponent, for exponents of normal doubles.
  static constexpr double power_of_two(int exponent) noexcept {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }

  /// u = 2^−(kFraction + 1): |round(x) − x| ≤ u |x| where round(x) is a normal number.
  static constexpr double kRoundoff = power_of_two(-kFraction - 1);
  static constexpr double kLargest = (2 - 2 * kRoundoff) * power_of_two(kBias);
  static constexpr double kLeastNormal = power_of_two(1 - kBias);
  /// The distance of neighbouring subnormal numbers.
  static constexpr double kSpacing = power_of_two(1 - kBias - kFraction);

  Storage bits;  ///< the encoding

  /// The number nearest to x. Of two that are equally near, it is the one with an even fraction.
  /// Numbers of kLargest + half a unit in its last place and more become infinite. NaN stays NaN.
  static constexpr NarrowFloat round(double x) noexcept {
    const auto pattern = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t sign = pattern >> 63;
    return {static_cast<Storage>(
        (sign << (kExponent + kFraction) | round_magnitude(pattern << 1 >> 1)) << kUnused)};
  }

  /// The same number in single precision.
  constexpr float value() const noexcept {
    const auto sign = static_cast<std::uint32_t>(bits >> (kUnused + kExponent + kFraction)) << 31;
    const auto code =
        static_cast<std::uint32_t>(bits >> kUnused) & ((1u << (kExponent + kFraction)) - 1);
    const std::uint32_t aligned = code << (23 - kFraction);
    if constexpr (kExponent == 8) {
      return std::bit_cast<float>(sign | aligned);
    } else {
      if (code >= kInfinite) return std::bit_cast<float>(sign | 0x7F800000u | aligned);
      // Without the bias of the exponents, `aligned` is the number times a power of two.
      constexpr double kScale = power_of_two(127 - kBias);
      const auto scaled = static_cast<double>(std::bit_cast<float>(aligned));
      return std::bit_cast<float>(
          sign | std::bit_cast<std::uint32_t>(static_cast<float>(scaled * kScale)));
    }
  }

  constexpr bool operator==(const NarrowFloat&) const = default;

 private:
  /// The code of infinity without sign.
  static constexpr std::uint32_t kInfinite = ((1u << kExponent) - 1) << kFraction;

  /// The code of a number ≥ 0 that is given as the bits of a double.
  static constexpr std::uint64_t round_magnitude(std::uint64_t magnitude) noexcept {
    constexpr std::uint64_t kHidden = std::uint64_t{1} << 52;
    constexpr std::uint64_t kDoubleInfinite = std::uint64_t{0x7FF} << 52;
    if (magnitude > kDoubleInfinite) return kInfinite | std::uint64_t{1} << (kFraction - 1);
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    const std::uint64_t significand = (magnitude & (kHidden - 1)) | kHidden;
    constexpr int kLeastExponent = 1 - kBias;
    const int dropped = 52 - kFraction + std::max(0, kLeastExponent - exponent);
    if (dropped > 53) return 0;
    std::uint64_t kept = significand >> dropped;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1);
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
    // The leading bit of a normal number adds 1 to the exponent, and so does a carry.
    const auto below =
        static_cast<std::uint64_t>(std::max(exponent, kLeastExponent) - kLeastExponent);
    return std::min<std::uint64_t>((below << kFraction) + kept, kInfinite);
  }
};

/// IEEE 754 binary16.
using Half = NarrowFloat<std::uint16_t, 5, 10>;

/// The upper half of a float.
using Bfloat16 = NarrowFloat<std::uint16_t, 8, 7>;

/// A float whose fraction has 10 bits, in 32 bits.
using Tf32 = NarrowFloat<std::uint32_t, 8, 10>;

}  // namespace heddle
