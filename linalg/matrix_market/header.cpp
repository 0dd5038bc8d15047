#include <algorithm>
#include <charconv>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/matrix_market/header.hpp>

namespace heddle::matrix_market {
namespace {

using detail::is_tar;
using detail::kMostIndices;
using detail::lower_case;
using detail::next_word;
using detail::quoted;

/// Reads a text line by line.
class LineReader {
 public:
  LineReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  /// Moves to the next line. Returns false at the end of the text.
  bool next() {
    if (position_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    line_ = text_.substr(position_, end - position_);
    position_ = std::min(end + 1, text_.size());
    ++number_;
    return true;
  }

  std::string_view line() const noexcept { return line_; }
  std::size_t number() const noexcept { return number_; }
  std::size_t position() const noexcept { return position_; }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(std::string(name_), number_, message);
  }

 private:
  std::string_view text_;
  std::string_view name_;
  std::string_view line_;
  std::size_t position_ = 0;
  std::size_t number_ = 0;
};

/// Removes the first word of a banner and returns whether it is that of Matrix Market files.
bool take_mark(std::string_view& line) {
  constexpr std::string_view kByteOrderMark =
      "\xEF\xBB\xBF";  // some editors write it at the start of a file
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  return lower_case(next_word(line)) == "%%matrixmarket";
}

void parse_object(std::string_view text, const LineReader& reader, std::string_view& line) {
  if (!take_mark(line)) {
    reader.fail(is_tar(text) ? "is a tar archive: extract the .mtx file that it holds"
                             : "is not a Matrix Market file: the first line must begin with "
                               "%%MatrixMarket");
  }
  const std::string_view object = next_word(line);
  if (lower_case(object) != "matrix") {
    reader.fail("the banner names the object " + quoted(object) + ", only 'matrix' can be read");
  }
}

Format parse_format(const LineReader& reader, std::string_view word) {
  const std::string format = lower_case(word);
  if (format == "coordinate") return Format::coordinate;
  if (format == "array") return Format::array;
  reader.fail("the banner names the format " + quoted(word) +
              ", known are 'coordinate' and 'array'");
}

Field parse_field(const LineReader& reader, std::string_view word) {
  const std::string field = lower_case(word);
  if (field == "real" || field == "double") return Field::real;
  if (field == "integer" || field == "unsigned-integer") return Field::integer;
  if (field == "pattern") return Field::pattern;
  if (field == "complex") return Field::complex;
  reader.fail("the banner names the field " + quoted(word) +
              ", known are 'real', 'double', 'complex', 'integer' and 'pattern'");
}

Symmetry parse_symmetry(const LineReader& reader, std::string_view word) {
  const std::string symmetry = lower_case(word);
  if (symmetry == "general") return Symmetry::general;
  if (symmetry == "symmetric") return Symmetry::symmetric;
  if (symmetry == "skew-symmetric") return Symmetry::skew_symmetric;
  if (symmetry == "hermitian") return Symmetry::hermitian;
  reader.fail("the banner names the symmetry " + quoted(word) +
              ", known are 'general', 'symmetric', 'skew-symmetric' and 'hermitian'");
}

Header parse_banner(std::string_view text, LineReader& reader) {
  if (!reader.next()) reader.fail("is empty");
  std::string_view line = reader.line();
  parse_object(text, reader, line);
  Header header;
  header.format = parse_format(reader, next_word(line));
  header.field = parse_field(reader, next_word(line));
  header.symmetry = parse_symmetry(reader, next_word(line));
  if (const std::string_view extra = next_word(line); !extra.empty()) {
    reader.fail("the banner goes on with " + quoted(extra) + " after the symmetry");
  }
  if (header.field == Field::pattern && header.format == Format::array) {
    reader.fail("the banner says 'array pattern': an array needs values");
  }
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric) {
    reader.fail("the banner says 'pattern skew-symmetric': entries without values have no sign");
  }
  if (header.symmetry == Symmetry::hermitian && header.field != Field::complex) {
    reader.fail(
        "the banner says 'hermitian': Hermitian files hold complex numbers, real ones are "
        "'symmetric'");
  }
  return header;
}

Index parse_size(const LineReader& reader, std::string_view& line, const char* what) {
  const std::string_view word = next_word(line);
  if (word.empty()) reader.fail(std::string("the size line lacks the number of ") + what);
  Index size = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, size);
  if (stop != end || error == std::errc::invalid_argument) {
    reader.fail("the number of " + std::string(what) + " is " + quoted(word) +
                ", which is not an integer");
  }
  if (error == std::errc::result_out_of_range || size < 0) {
    reader.fail("the number of " + std::string(what) + " is " + quoted(word) +
                ", which is out of range");
  }
  return size;
}

/// The number of values that an array file must hold.
Index stored_in_array(const Header& header) {
  if (header.symmetry == Symmetry::general) return header.rows * header.cols;
  if (header.symmetry == Symmetry::skew_symmetric) return header.rows * (header.rows - 1) / 2;
  return header.rows * (header.rows + 1) / 2;
}

void parse_size_line(LineReader& reader, Header& header) {
  std::string_view line = reader.line();
  header.rows = parse_size(reader, line, "rows");
  header.cols = parse_size(reader, line, "columns");
  if (header.rows > kMostIndices || header.cols > kMostIndices) {
    reader.fail("the size line claims " + std::to_string(header.rows) + " rows and " +
                std::to_string(header.cols) + " columns, 32-bit indices can name no more than " +
                std::to_string(kMostIndices));
  }
  if (header.symmetry != Symmetry::general && header.rows != header.cols) {
    reader.fail("the banner claims symmetry, but the matrix is " + std::to_string(header.rows) +
                "x" + std::to_string(header.cols) + ", not square");
  }
  header.entries = header.format == Format::coordinate ? parse_size(reader, line, "entries")
                                                       : stored_in_array(header);
  if (const std::string_view extra = next_word(line); !extra.empty()) {
    reader.fail("the size line goes on with " + quoted(extra));
  }
}

}  // namespace

bool names_complex(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (!take_mark(line)) return false;
  next_word(line);  // the object
  next_word(line);  // the format
  return lower_case(next_word(line)) == "complex";
}

Header parse_header(std::string_view text, std::string_view name) {
  LineReader reader(text, name);
  Header header = parse_banner(text, reader);
  while (reader.next()) {
    std::string_view line = reader.line();
    const std::string_view word = next_word(line);
    if (word.empty() || word.front() == '%') continue;
    parse_size_line(reader, header);
    header.size_line = reader.number();
    header.body = reader.position();
    return header;
  }
  reader.fail("the file ends before the size line");
}

}  // namespace heddle::matrix_market
