#include <heddle/apps/input_file.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/gallery/gallery.hpp>

namespace heddle::apps {

bool is_path(const std::filesystem::path& input) {
  return input != kStandardInput && !detail::names_collection_matrix(input.native());
}

bool holds_complex(const std::filesystem::path& input) {
  if (input.empty()) return false;
  if (input == kStandardInput) return holds_complex_numbers(standard_input_file());
  return holds_complex_numbers(is_path(input) ? input : collection_file(input.native()));
}

bool names_complex_matrix(const std::string& argument) {
  if (!detail::names_generator(argument)) return holds_complex(argument);
  return is_complex_structure(detail::parse_generator(argument).name);
}

std::filesystem::path existing_file(const std::filesystem::path& input) {
  if (input == kStandardInput) return standard_input_file();
  const auto name = parse_collection_name(input.native());
  return name ? cached_file(*name) : input;
}

}  // namespace heddle::apps
