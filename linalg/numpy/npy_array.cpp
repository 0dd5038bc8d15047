#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/numpy/npy_array.hpp>
#include <limits>
#include <optional>
#include <type_traits>

namespace heddle::detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void fail(std::string_view name, const std::string& message) {
  throw InputError(std::string(name), 0, message);
}

/// The header of an array: a Python dictionary with three keys.
struct Header {
  std::optional<std::string> type;
  std::optional<bool> fortran_order;
  std::optional<std::vector<Index>> shape;
};

/// Parses the literals of Python that occur in a header.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      parse_item(header);
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip();
    if (!rest_.empty() || !header.type || !header.fortran_order || !header.shape) damaged();
    return header;
  }

 private:
  [[noreturn]] void damaged() const {
    fail(name_, "the header of the NumPy array is damaged at " + detail::quoted(rest_));
  }

  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size())); }

  bool accept(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) damaged();
  }

  std::string parse_string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) damaged();
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool parse_bool() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    damaged();
  }

  std::vector<Index> parse_tuple() {
    std::vector<Index> numbers;
    expect('(');
    while (!accept(')')) {
      Index number = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc() || number < 0) damaged();
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      accept('L');  // written by Python 2
      numbers.push_back(number);
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return numbers;
  }

  void parse_item(Header& header) {
    const std::string key = parse_string();
    expect(':');
    if (key == "descr" && !header.type) {
      skip();
      if (rest_.starts_with('[')) {
        fail(name_, "is an array of structures, only arrays of numbers can be read");
      }
      header.type = parse_string();
    } else if (key == "fortran_order" && !header.fortran_order) {
      header.fortran_order = parse_bool();
    } else if (key == "shape" && !header.shape) {
      header.shape = parse_tuple();
    } else {
      damaged();
    }
  }

  std::string_view rest_;
  std::string_view name_;
};

/// The little-endian natural number in the first `count` bytes of `bytes`.
std::size_t natural(std::string_view bytes, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Removes magic number, version and header from `bytes` and returns the text of the header.
std::string_view take_header(std::string_view& bytes, std::string_view name) {
  if (!bytes.starts_with(kMagic)) {
    fail(name, "is not a NumPy array: an .npy file begins with \\x93NUMPY");
  }
  constexpr std::size_t kVersionEnd = 8;
  const std::string truncated = "the file ends within the header of the NumPy array";
  if (bytes.size() < kVersionEnd) fail(name, truncated);
  const int major = static_cast<unsigned char>(bytes[kVersionEnd - 2]);
  const int minor = static_cast<unsigned char>(bytes[kVersionEnd - 1]);
  if (major < 1 || major > 3 || minor != 0) {
    fail(name, fmt::format("has version {}.{} of NumPy's array format, known are 1.0, 2.0 and 3.0",
                           major, minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  bytes.remove_prefix(kVersionEnd);
  if (bytes.size() < length_bytes) fail(name, truncated);
  const std::size_t length = natural(bytes, length_bytes);
  bytes.remove_prefix(length_bytes);
  if (bytes.size() < length) fail(name, truncated);
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return header;
}

[[noreturn]] void refuse_type(const std::string& type, std::string_view name) {
  if (type.find('O') != std::string::npos) {
    fail(name, "holds Python objects (" + detail::quoted(type) +
                   "), which are not read: save an array of numbers, e.g. array.astype(float)");
  }
  fail(
      name,
      "holds elements of type " + detail::quoted(type) +
          ", known are float32, float64, complex64, complex128, integers of 8 to 64 bits and bool");
}

/// Sets the type of the elements from NumPy's name for it, e.g. "<f8".
void set_type(const std::string& type, NpyArray& array, std::string_view name) {
  array.type = type;
  std::string_view rest = type;
  const bool little = std::endian::native == std::endian::little;
  if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
    array.swapped = rest.front() == (little ? '>' : '<');
    rest.remove_prefix(1);
  }
  if (rest.size() < 2) refuse_type(type, name);
  const char letter = rest.front();
  rest.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), array.item_bytes);
  if (error != std::errc() || end != rest.data() + rest.size()) refuse_type(type, name);
  const std::size_t bytes = array.item_bytes;
  const bool integer_size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  constexpr std::size_t kLongestText = 64;
  const auto take = [&](NpyKind kind, bool known) {
    if (!known) refuse_type(type, name);
    array.kind = kind;
  };
  switch (letter) {
    case 'b':
      return take(NpyKind::boolean, bytes == 1);
    case 'i':
      return take(NpyKind::integer, integer_size);
    case 'u':
      return take(NpyKind::natural, integer_size);
    case 'f':
      return take(NpyKind::real, bytes == 4 || bytes == 8);
    case 'c':
      return take(NpyKind::complex, bytes == 8 || bytes == 16);
    case 'S':
      return take(NpyKind::bytes, bytes > 0 && bytes <= kLongestText);
    case 'U':
      take(NpyKind::unicode, bytes > 0 && bytes <= kLongestText);
      array.item_bytes *= 4;
      return;
    default:
      refuse_type(type, name);
  }
}

/// Sets the strides of an array whose shape is known.
void set_strides(bool fortran_order, NpyArray& array) {
  array.strides.resize(array.shape.size());
  Index stride = 1;
  for (std::size_t k = 0; k < array.shape.size(); ++k) {
    const std::size_t d = fortran_order ? k : array.shape.size() - 1 - k;
    array.strides[d] = stride;
    stride *= array.shape[d];
  }
}

/// The number of bytes that the header promises, none if it is beyond all memory.
std::optional<std::size_t> promised_bytes(const std::vector<Index>& shape, std::size_t item_bytes) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<Index>::max());
  std::size_t bytes = item_bytes;
  for (const Index extent : shape) {  // without regard to zeros: the strides must not overflow
    const auto factor = static_cast<std::size_t>(std::max<Index>(extent, 1));
    if (bytes > kMost / factor) return std::nullopt;
    bytes *= factor;
  }
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return empty ? 0 : bytes;
}

}  // namespace

Index NpyArray::size() const noexcept {
  Index product = 1;
  for (const Index extent : shape) product *= extent;
  return product;
}

NpyArray parse_npy_array(std::string_view bytes, std::string_view name) {
  const Header header = HeaderParser(take_header(bytes, name), name).parse();
  NpyArray array;
  set_type(*header.type, array, name);
  array.data = bytes.data();
  array.shape = *header.shape;
  if (promised_bytes(array.shape, array.item_bytes) != bytes.size()) {
    fail(name, fmt::format("the header promises the shape {} of {} bytes each, {} bytes follow",
                           describe_shape(array), array.item_bytes, bytes.size()));
  }
  set_strides(*header.fortran_order, array);
  return array;
}

bool begins_complex_npy(std::string_view bytes) {
  try {
    NpyArray array;
    set_type(*HeaderParser(take_header(bytes, {}), {}).parse().type, array, {});
    return array.kind == NpyKind::complex;
  } catch (const InputError&) {
    return false;
  }
}

std::string npy_text(const NpyArray& array) {
  const bool unicode = array.kind == NpyKind::unicode;
  if ((array.kind != NpyKind::bytes && !unicode) || array.size() != 1) return {};
  std::string text;
  const auto character = [&](std::size_t k) {
    if (!unicode) return static_cast<std::uint32_t>(static_cast<unsigned char>(array.data[k]));
    return NpyLoader<std::uint32_t>(array)(static_cast<Index>(k));
  };
  for (std::size_t k = 0; k < array.item_bytes / (unicode ? 4 : 1); ++k) {
    const std::uint32_t code = character(k);
    if (code == 0) break;
    text.push_back(code < 128 ? static_cast<char>(code) : '?');
  }
  return text;
}

std::string describe_shape(const NpyArray& array) {
  return fmt::format("({}{})", fmt::join(array.shape, ", "), array.dimensions() == 1 ? "," : "");
}

template <Scalar T>
void require_numbers(const NpyArray& array, std::string_view name) {
  if (!kComplex<T> && array.kind == NpyKind::complex) {
    fail(name,
         "holds complex numbers (" + detail::quoted(array.type) + "), only real ones can be read");
  }
  if (array.kind == NpyKind::bytes || array.kind == NpyKind::unicode) {
    fail(name, "holds text, only numbers can be read");
  }
}

template <Scalar T>
void refuse_number(const NpyArray& array, Index k, std::string_view name) {
  std::vector<Index> indices;
  for (std::size_t d = 0; d < array.shape.size(); ++d) {
    indices.push_back(k / array.strides[d] % array.shape[d]);
  }
  std::complex<double> value = 0;
  with_numbers<T>(array, [&](auto load) { value = to_scalar<std::complex<double>>(load(k)); });
  const bool complex = array.kind == NpyKind::complex;
  fail(name,
       fmt::format("element [{}] is {}{}, which is {}", fmt::join(indices, ", "), value.real(),
                   complex ? fmt::format("{:+}i", value.imag()) : "",
                   is_finite(value) ? "too large for the precision asked for" : "not finite"));
}

#define HEDDLE_INSTANTIATE(T)                                          \
  template void require_numbers<T>(const NpyArray&, std::string_view); \
  template void refuse_number<T>(const NpyArray&, Index, std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
