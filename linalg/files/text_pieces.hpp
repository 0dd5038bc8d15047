#pragma once

#include <heddle/linalg/context/context.hpp>
#include <string_view>
#include <vector>

/// Text that is divided at line ends, so that several threads can parse it.
namespace heddle::detail {

/// The end of the line that starts at `begin`, at its line feed or at `end`.
const char* line_end(const char* begin, const char* end) noexcept;

Index count_line_feeds(std::string_view text) noexcept;

/// The number of the line, from 1, that holds the character at `where` in `text`.
std::size_t line_number(std::string_view text, const char* where) noexcept;

/// A range of whole lines that one thread parses.
struct TextPiece {
  std::string_view text;
  Index lines = 0;
  const char* fault = nullptr;  ///< the first wrong line, set by the parser
};

/// Divides `text` at line ends into pieces of about equal length.
std::vector<TextPiece> cut_at_lines(HostContext& context, std::string_view text);

}  // namespace heddle::detail
