#include <heddle/linalg/matrix_market/line.hpp>

namespace heddle::matrix_market {
namespace {

using detail::next_word;
using detail::quoted;

std::string outside(const char* what, std::string_view word, Index most) {
  return std::string(what) + " " + quoted(word) + " is outside 1 … " + std::to_string(most);
}

std::string missing(const char* what, std::string_view word) {
  if (word.empty()) return std::string("the ") + what + " is missing";
  return std::string("the ") + what + " " + quoted(word) + " is not an integer";
}

/// The number at fault in `rest`, the text behind the indices: a complex value has two.
std::string_view faulty_number(std::string_view rest, const Header& header) {
  if (header.field == Field::pattern) return {};
  const std::string_view first = next_word(rest);
  if (header.field != Field::complex) return first;
  const char* position = first.data();
  double ignored = 0;
  const Fault fault = read_number(position, first.data() + first.size(), Fault::no_value, ignored);
  return fault == Fault::none ? next_word(rest) : first;
}

/// What follows an entry in `rest`, the text behind the indices.
std::string_view word_behind(std::string_view rest, const Header& header) {
  if (header.field != Field::pattern) next_word(rest);
  if (header.field == Field::complex) next_word(rest);
  return next_word(rest);
}

}  // namespace

std::string describe(Fault fault, std::string_view line, const Header& header) {
  std::string_view row;
  std::string_view col;
  if (header.format == Format::coordinate) {
    row = next_word(line);
    col = next_word(line);
  }
  const std::string_view value = faulty_number(line, header);
  switch (fault) {
    case Fault::no_row:
      return missing("row index", row);
    case Fault::row_out_of_range:
      return outside("row index", row, header.rows);
    case Fault::no_column:
      return missing("column index", col);
    case Fault::column_out_of_range:
      return outside("column index", col, header.cols);
    case Fault::above_diagonal:
      return "entry (" + std::string(row) + ", " + std::string(col) +
             ") lies above the diagonal, but the banner claims symmetry, where only the lower "
             "triangle is stored";
    case Fault::on_diagonal:
      return "entry (" + std::string(row) + ", " + std::string(col) +
             ") lies on the diagonal, which is zero in a skew-symmetric matrix";
    case Fault::no_value:
      return "the value is missing";
    case Fault::malformed_value:
      return "the value " + quoted(value) + " is not a number";
    case Fault::value_not_finite:
      return "the value " + quoted(value) + " is not finite";
    case Fault::value_too_large:
      return "the value " + quoted(value) + " is too large for the precision asked for";
    case Fault::value_not_integer:
      return "the value " + quoted(value) + " is not an integer, as the banner promises";
    case Fault::no_imaginary:
      return "the imaginary part of the value is missing";
    case Fault::imaginary_on_diagonal:
      return "an entry of the diagonal has the imaginary part " + quoted(value) +
             ", but that of a Hermitian matrix is real";
    case Fault::extra_word:
      return quoted(word_behind(line, header)) + " follows the entry, a line holds one";
    case Fault::none:
      break;
  }
  return "the line is not an entry";
}

}  // namespace heddle::matrix_market
