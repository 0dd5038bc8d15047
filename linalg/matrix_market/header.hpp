#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>
#include <string_view>

/// The banner and the size line of a Matrix Market file.
namespace heddle::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern, complex };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Index rows = 0;
  Index cols = 0;
  Index entries = 0;          ///< the number of lines after the header, one per entry
  std::size_t size_line = 0;  ///< the number of the size line, from 1
  std::size_t body = 0;       ///< the offset at which the text of the entries begins
};

/// Whether the banner at the beginning of `text` says that the numbers are complex. False for text
/// without a banner.
bool names_complex(std::string_view text);

/// Parses banner, comments and size line of `text`. Messages use `name` for the file. Throws
/// `InputError`.
Header parse_header(std::string_view text, std::string_view name);

}  // namespace heddle::matrix_market
