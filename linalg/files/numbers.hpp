#pragma once

#include <charconv>
#include <cmath>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/files/words.hpp>
#include <string_view>

/// Parses numbers in text files by std::from_chars, and the two forms that it rejects: a plus sign
/// and Fortran exponents.
namespace heddle::detail {

enum class NumberStatus { ok, malformed, too_large, not_finite };

/// Parses a value that std::from_chars rejects: one with Fortran's D as the exponent, one that
/// underflows (to a signed zero), or one that is not a finite number of T. `word` is the whole text
/// of the value.
template <RealScalar T>
NumberStatus read_unusual_value(std::string_view word, T& value) noexcept;

/// The position after an optional plus sign, which std::from_chars does not accept.
inline const char* skip_plus(const char* begin, const char* end) noexcept {
  const bool plus = end - begin > 1 && begin[0] == '+' && begin[1] != '-';
  return plus ? begin + 1 : begin;
}

/// Parses the integer at `position`, which ends at a blank or at `end`. Moves `position` after it.
inline NumberStatus read_integer(const char*& position, const char* end, Index& value) noexcept {
  const auto [stop, error] = std::from_chars(skip_plus(position, end), end, value);
  if (error == std::errc::invalid_argument || (stop != end && !is_blank(*stop))) {
    return NumberStatus::malformed;
  }
  position = stop;
  return error == std::errc() ? NumberStatus::ok : NumberStatus::too_large;
}

/// Parses the value at `position`, which ends at a blank or at `end`, correctly rounded. Moves
/// `position` after it.
template <RealScalar T>
NumberStatus read_value(const char*& position, const char* end, T& value) noexcept {
  const auto [stop, error] = std::from_chars(skip_plus(position, end), end, value);
  if (error == std::errc() && (stop == end || is_blank(*stop)) && std::isfinite(value)) {
    position = stop;
    return NumberStatus::ok;
  }
  std::string_view rest(position, static_cast<std::size_t>(end - position));
  const std::string_view word = next_word(rest);
  position = rest.data();
  return read_unusual_value(word, value);
}

}  // namespace heddle::detail
