#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <limits>
#include <random>
#include <vector>

namespace heddle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The value of a code by the formula of IEEE 754 for `exponent_bits` and `fraction_bits`.
double decode(std::uint32_t code, int exponent_bits, int fraction_bits) {
  const auto fraction = static_cast<double>(code % (1u << fraction_bits));
  const auto exponent = static_cast<int>((code >> fraction_bits) % (1u << exponent_bits));
  const double sign = (code >> (exponent_bits + fraction_bits)) % 2 == 1 ? -1.0 : 1.0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * kInfinity : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign *
         std::ldexp(std::ldexp(1.0, fraction_bits) + fraction, exponent - bias - fraction_bits);
}

/// A number type with the sizes of its fields, stated apart from the library.
template <class Number, int kExponentBits, int kFractionBits, int kUnusedBits>
struct Format {
  using Type = Number;
  static constexpr std::uint32_t kCodes = 1u << (1 + kExponentBits + kFractionBits);
  static Number number(std::uint32_t code) {
    return {static_cast<decltype(Number::bits)>(code << kUnusedBits)};
  }
  static double value(std::uint32_t code) { return decode(code, kExponentBits, kFractionBits); }
};

template <class F>
class NarrowFloats : public testing::Test {};
using Formats =
    testing::Types<Format<Half, 5, 10, 0>, Format<Bfloat16, 8, 7, 0>, Format<Tf32, 8, 10, 13>>;
TYPED_TEST_SUITE(NarrowFloats, Formats);

TYPED_TEST(NarrowFloats, EveryCodeHasItsValueAndRoundsToItself) {
  using F = TypeParam;
  for (std::uint32_t code = 0; code < F::kCodes; ++code) {
    const auto number = F::number(code);
    const double expected = F::value(code);
    const auto value = static_cast<double>(number.value());
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << code;
      ASSERT_TRUE(std::isnan(F::Type::round(value).value())) << code;
    } else {
      ASSERT_EQ(value, expected) << code;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << code;
      ASSERT_EQ(F::Type::round(expected), number) << code;
    }
  }
}

TYPED_TEST(NarrowFloats, BetweenNeighboursTheNearestAndOfTwoTheEvenOne) {
  using F = TypeParam;
  for (std::uint32_t code = 0; code + 1 < F::kCodes / 2; ++code) {
    const double low = F::value(code);
    double high = F::value(code + 1);
    if (std::isnan(high) || std::isinf(low)) continue;
    if (std::isinf(high)) high = 2 * low - F::value(code - 1);  // where the next number would be
    const double middle = low + (high - low) / 2;
    const std::uint32_t even = code % 2 == 0 ? code : code + 1;
    for (const double sign : {1.0, -1.0}) {
      const std::uint32_t mask = sign < 0 ? F::kCodes / 2 : 0;
      const auto rounded = [sign](double x) { return F::Type::round(sign * x); };
      ASSERT_EQ(rounded(middle), F::number(even | mask)) << code;
      ASSERT_EQ(rounded(std::nextafter(middle, 0.0)), F::number(code | mask)) << code;
      ASSERT_EQ(rounded(std::nextafter(middle, kInfinity)), F::number((code + 1) | mask)) << code;
    }
  }
}

TYPED_TEST(NarrowFloats, RandomDoublesRoundToTheNearestOfAllNumbers) {
  using F = TypeParam;
  std::vector<double> numbers;
  for (std::uint32_t code = 0; code < F::kCodes / 2; ++code) {
    if (std::isfinite(F::value(code))) numbers.push_back(F::value(code));
  }
  std::mt19937_64 bits(7);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int k = 0; k < 20000; ++k) {
    const int exponent = static_cast<int>(bits() % 290) - 160;
    const double x = std::ldexp(mantissa(bits), exponent);
    const auto above = std::lower_bound(numbers.begin(), numbers.end(), x);
    if (above == numbers.end()) continue;  // overflow is tested by the neighbours above
    const double nearest =
        above == numbers.begin() || *above - x < x - *(above - 1) ? *above : *(above - 1);
    ASSERT_EQ(F::Type::round(x).value(), nearest) << x;
  }
}

TYPED_TEST(NarrowFloats, EndsOfTheRange) {
  using F = TypeParam;
  using Number = typename F::Type;
  EXPECT_EQ(Number::round(Number::kLargest).value(), Number::kLargest);
  EXPECT_EQ(Number::round(Number::kLargest * (1 + Number::kRoundoff)).value(), kInfinity);
  EXPECT_EQ(Number::round(kInfinity).value(), kInfinity);
  EXPECT_EQ(Number::round(-kInfinity).value(), -kInfinity);
  EXPECT_EQ(Number::round(1e308).value(), kInfinity);
  EXPECT_TRUE(std::isnan(Number::round(std::nan("")).value()));
  EXPECT_EQ(Number::round(Number::kSpacing).value(), Number::kSpacing);
  EXPECT_EQ(Number::round(Number::kSpacing / 2).value(), 0);
  EXPECT_EQ(Number::round(5e-324).value(), 0);
  EXPECT_TRUE(std::signbit(Number::round(-0.0).value()));
  EXPECT_EQ(Number::round(1 + Number::kRoundoff).value(), 1);
  EXPECT_EQ(Number::round(1 + 2 * Number::kRoundoff).value(), 1 + 2 * Number::kRoundoff);
}

TEST(NarrowFloat, KnownNumbers) {
  EXPECT_EQ(Half::round(65504).bits, 0x7BFF);
  EXPECT_EQ(Half::round(1.0 / 3).bits, 0x3555);
  EXPECT_EQ(Half::round(0x1p-24).bits, 0x0001);
  EXPECT_EQ(Bfloat16::round(1.0 / 3).bits, 0x3EAB);
  EXPECT_EQ(Tf32::round(1.0 / 3).bits, 0x3EAAA000u);
  EXPECT_EQ(Half::kLargest, 65504);
  EXPECT_EQ(Half::kLeastNormal, 0x1p-14);
  EXPECT_EQ(Bfloat16::kLargest, 0x1.FEp127);
  // Rounding through single precision would give 1: it is a double just above a midpoint.
  EXPECT_EQ(Half::round(1 + 0x1p-11 + 0x1p-40).value(), 1 + 0x1p-10);
}

}  // namespace
}  // namespace heddle
