#include <algorithm>
#include <charconv>
#include <heddle/apps/spmm/matrix_argument.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/matrix_market.hpp>
#include <string_view>

namespace heddle::apps {
namespace {

/// Cuts the text before `separator` off `rest`; all of it if there is none.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

template <class Number>
Number parse_number(std::string_view text, const std::string& argument) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) {
    throw InvalidArgument("'" + argument + "': '" + std::string(text) + "' is not a number");
  }
  return value;
}

}  // namespace

std::optional<GallerySpec> parse_generator(const std::string& argument) {
  std::string_view rest = argument;
  GallerySpec spec;
  spec.name = next_part(rest, ':');
  const auto& known = gallery_structures();
  const bool is_known = std::any_of(known.begin(), known.end(),
                                    [&](const GalleryStructure& s) { return s.name == spec.name; });
  if (!is_known) return std::nullopt;
  std::string_view sizes = next_part(rest, ':');
  while (!sizes.empty()) {
    spec.size.push_back(parse_number<Index>(next_part(sizes, 'x'), argument));
  }
  if (!rest.empty()) spec.density = parse_number<double>(rest, argument);
  return spec;
}

HostCsrMatrix<double> load_matrix(HostContext& context, const std::string& argument) {
  if (const auto spec = parse_generator(argument)) return generate<double>(context, *spec);
  return read_matrix_market<double>(context, argument);
}

}  // namespace heddle::apps
