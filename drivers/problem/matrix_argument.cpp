#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <string_view>
#include <system_error>

namespace heddle::detail {
namespace {

/// Removes the text before the first of `separators` from `rest` and returns it. Without a
/// separator this is all of `rest`.
std::string_view next_part(std::string_view& rest, std::string_view separators) {
  const std::size_t end = std::min(rest.find_first_of(separators), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

template <class Number>
Number parse_number(std::string_view text, std::string_view meaning, const std::string& argument) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) {
    throw InvalidArgument(
        fmt::format("{}: the {} \"{}\" is not a number; write NAME:SIZE,SIZE or NAME:SIZE:DENSITY",
                    argument, meaning, text));
  }
  return value;
}

bool is_structure(std::string_view name) {
  const auto& known = gallery_structures();
  return std::any_of(known.begin(), known.end(),
                     [&](const GalleryStructure& structure) { return structure.name == name; });
}

}  // namespace

GallerySpec parse_generator(const std::string& argument) {
  std::string_view rest = argument;
  GallerySpec spec;
  spec.name = next_part(rest, ":");
  const bool has_sizes = !rest.empty();
  std::string_view sizes = next_part(rest, ":");
  const auto more = static_cast<std::size_t>(
      std::count_if(sizes.begin(), sizes.end(), [](char c) { return c == ',' || c == 'x'; }));
  for (std::size_t k = 0; has_sizes && k <= more; ++k) {
    spec.size.push_back(parse_number<Index>(next_part(sizes, ",x"), "size", argument));
  }
  if (!rest.empty()) spec.density = parse_number<double>(rest, "density", argument);
  return spec;
}

bool names_collection_matrix(std::string_view argument) {
  return lower_case(argument.substr(0, kCollectionPrefix.size())) == lower_case(kCollectionPrefix);
}

bool names_generator(const std::string& argument) {
  std::error_code no_such_file;
  if (names_collection_matrix(argument)) return false;
  if (std::filesystem::exists(argument, no_such_file)) return false;
  return argument.find(':') != std::string::npos || is_structure(argument);
}

template <Scalar T>
HostCsrMatrix<T> load_matrix(HostContext& context, const std::string& argument,
                             FirstLine first_line) {
  if (names_generator(argument)) return generate<T>(context, parse_generator(argument));
  return read_matrix<T>(context, argument, first_line);
}

template HostCsrMatrix<double> load_matrix(HostContext&, const std::string&, FirstLine);
template HostCsrMatrix<std::complex<double>> load_matrix(HostContext&, const std::string&,
                                                         FirstLine);

}  // namespace heddle::detail
