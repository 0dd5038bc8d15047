#pragma once

#include <string>
#include <string_view>

/// The words of a line of text.
namespace heddle::detail {

/// Whether c is a blank within a line. The carriage return before a line feed counts as a blank.
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

inline const char* skip_blanks(const char* position, const char* end) noexcept {
  while (position != end && is_blank(*position)) ++position;
  return position;
}

/// Removes the first word of `line` and returns it. Empty if there is none left.
std::string_view next_word(std::string_view& line) noexcept;

/// `text` with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// `word` in the form used in messages: in quotes, shortened if long, with '?' for unprintable
/// characters.
std::string quoted(std::string_view word);

}  // namespace heddle::detail
