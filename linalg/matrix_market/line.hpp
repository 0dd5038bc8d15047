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
  no_imaginary,
  imaginary_on_diagonal,
  extra_word,
};

/// The message for `fault` in `line`: what the line holds and what is required.
std::string describe(Fault fault, std::string_view line, const Header& header);

/// Parses the number at `position`, after blanks. `missing` is the fault of a line that ends before
/// it.
template <RealScalar T>
Fault read_number(const char*& position, const char* end, Fault missing, T& value) noexcept {
  position = detail::skip_blanks(position, end);
  if (position == end) return missing;
  switch (detail::read_value(position, end, value)) {
    case detail::NumberStatus::ok:
      return Fault::none;
    case detail::NumberStatus::malformed:
      return Fault::malformed_value;
    case detail::NumberStatus::too_large:
      return Fault::value_too_large;
    case detail::NumberStatus::not_finite:
      break;
  }
  return Fault::value_not_finite;
}

/// Parses the value at `position` in the format of `header` (1 for a pattern), up to the end of the
/// line. The file is not complex if T is real.
template <Scalar T>
Fault read_last(const char* position, const char* end, const Header& header, T& value) noexcept {
  RealOf<T> real = 1;
  if (header.field != Field::pattern) {
    const Fault fault = read_number(position, end, Fault::no_value, real);
    if (fault != Fault::none) return fault;
    if (header.field == Field::integer && real != std::trunc(real)) {
      return Fault::value_not_integer;
    }
  }
  value = real;
  if constexpr (kComplex<T>) {
    if (header.field == Field::complex) {
      RealOf<T> imaginary = 0;
      const Fault fault = read_number(position, end, Fault::no_imaginary, imaginary);
      if (fault != Fault::none) return fault;
      value = {real, imaginary};
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
  const Fault fault = read_last(position, end, header, value);
  if constexpr (kComplex<T>) {
    if (fault == Fault::none && i == j && header.symmetry == Symmetry::hermitian &&
        value.imag() != 0) {
      return Fault::imaginary_on_diagonal;
    }
  }
  return fault;
}

}  // namespace heddle::matrix_market
