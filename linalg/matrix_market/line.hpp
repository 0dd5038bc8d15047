#pragma once

#include <heddle/linalg/files/numbers.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <string>
#include <string_view>

/// Parses a line of the body of a Matrix Market file.
namespace heddle::matrix_market {

/// The possible errors in a line.
enum class Fault {
  none,
  no_row,
  row_out_of_range,
  no_column,
  column_out_of_range,
  above_diagonal,
  on_diagonal,
  no_value,
  malformed_value,
  value_not_finite,
  value_too_large,
  value_not_integer,
  extra_word,
};

/// The message for `fault` in `line`: what the line holds and what is required.
std::string describe(Fault fault, std::string_view line, const Header& header);

/// Parses the value at `position` in the format of `header` (1 for a pattern), up to the end of the
/// line.
template <Scalar T>
Fault read_last(const char* position, const char* end, const Header& header, T& value) noexcept {
  value = T{1};
  if (header.field != Field::pattern) {
    position = detail::skip_blanks(position, end);
    if (position == end) return Fault::no_value;
    switch (detail::read_value(position, end, value)) {
      case detail::NumberStatus::ok:
        break;
      case detail::NumberStatus::malformed:
        return Fault::malformed_value;
      case detail::NumberStatus::too_large:
        return Fault::value_too_large;
      case detail::NumberStatus::not_finite:
        return Fault::value_not_finite;
    }
    if (header.field == Field::integer && value != std::trunc(value)) {
      return Fault::value_not_integer;
    }
  }
  return detail::skip_blanks(position, end) == end ? Fault::none : Fault::extra_word;
}

/// Parses a line of a coordinate file: row and column (converted to 0-based) and the value.
template <Scalar T>
Fault read_coordinates(const char* position, const char* end, const Header& header,
                       std::int32_t& row, std::int32_t& col, T& value) noexcept {
  Index i = 0;
  Index j = 0;
  detail::NumberStatus status = detail::read_integer(position, end, i);
  if (status == detail::NumberStatus::malformed) return Fault::no_row;
  if (status != detail::NumberStatus::ok || i < 1 || i > header.rows)
    return Fault::row_out_of_range;
  position = detail::skip_blanks(position, end);
  status = detail::read_integer(position, end, j);
  if (status == detail::NumberStatus::malformed) return Fault::no_column;
  if (status != detail::NumberStatus::ok || j < 1 || j > header.cols)
    return Fault::column_out_of_range;
  if (header.symmetry != Symmetry::general) {
    if (j > i) return Fault::above_diagonal;
    if (j == i && header.symmetry == Symmetry::skew_symmetric) return Fault::on_diagonal;
  }
  row = static_cast<std::int32_t>(i - 1);
  col = static_cast<std::int32_t>(j - 1);
  return read_last(position, end, header, value);
}

}  // namespace heddle::matrix_market
