#include <heddle/apps/input_file.hpp>

namespace heddle::apps {

bool is_path(const std::filesystem::path& input) {
  return input != kStandardInput && !detail::names_collection_matrix(input.native());
}

std::filesystem::path needed_file(const std::filesystem::path& input) {
  if (input == kStandardInput) return standard_input_file();
  return is_path(input) ? input : collection_file(input.native());
}

std::filesystem::path existing_file(const std::filesystem::path& input) {
  if (input == kStandardInput) return standard_input_file();
  const auto name = parse_collection_name(input.native());
  return name ? cached_file(*name) : input;
}

}  // namespace heddle::apps
