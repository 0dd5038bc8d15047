#include <algorithm>
#include <array>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/numbers.hpp>

namespace heddle::detail {
namespace {

/// Whether a decimal number out of range underflows rather than overflows: whether its first
/// nonzero digit, shifted by the exponent, lies after the decimal point.
bool is_below_one(std::string_view number) noexcept {
  const std::size_t exponent_mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, exponent_mark);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const Index place = static_cast<Index>(point) - static_cast<Index>(first) - (first < point);
  if (exponent_mark == number.size()) return place < 0;

  const char* begin = number.data() + exponent_mark + 1;
  const char* end = number.data() + number.size();
  Index exponent = 0;
  const std::errc error = std::from_chars(skip_plus(begin, end), end, exponent).ec;
  if (error == std::errc::result_out_of_range) return *begin == '-';
  return exponent < -place;
}

}  // namespace

template <RealScalar T>
NumberStatus read_unusual_value(std::string_view word, T& value) noexcept {
  std::array<char, 512> copy;
  if (word.size() > copy.size()) return NumberStatus::malformed;
  const char* end = std::transform(word.begin(), word.end(), copy.begin(),
                                   [](char c) { return c == 'd' || c == 'D' ? 'e' : c; });
  const char* begin = skip_plus(copy.data(), end);
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error == std::errc::invalid_argument || stop != end) return NumberStatus::malformed;
  const bool negative = *begin == '-';
  const std::string_view number(begin + negative, static_cast<std::size_t>(end - begin - negative));
  const bool has_digits = (number.front() >= '0' && number.front() <= '9') || number.front() == '.';
  if (!has_digits) return NumberStatus::not_finite;
  if (error == std::errc::result_out_of_range || !std::isfinite(value)) {
    if (!is_below_one(number)) return NumberStatus::too_large;
    value = negative ? -T{0} : T{0};
  }
  return NumberStatus::ok;
}

#define HEDDLE_INSTANTIATE(T) \
  template NumberStatus read_unusual_value(std::string_view, T&) noexcept;
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
