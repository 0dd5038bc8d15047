#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>
#include <string>
#include <string_view>

/// The banner and the size line of a Matrix Market file.
namespace heddle::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew_symmetric };

struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Index rows = 0;
  Index cols = 0;
  Index entries = 0;          ///< lines that must follow, one per entry
  std::size_t size_line = 0;  ///< the number of the size line, from 1
  std::size_t body = 0;       ///< where the text of the entries begins
};

/// Blanks within a line. The carriage return of a line that ends in CR LF counts as one.
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

/// Cuts the first word off `line` and returns it; empty if there is none left.
std::string_view next_word(std::string_view& line) noexcept;

/// `word` for a message: in quotes, cut short if long, unprintable characters as '?'.
std::string quoted(std::string_view word);

/// Reads banner, comments and size line of `text`; `name` stands for the file in messages. Throws
/// `InputError`.
Header parse_header(std::string_view text, std::string_view name);

}  // namespace heddle::matrix_market
