#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <heddle/apps/programs_on_path.hpp>
#include <set>
#include <sstream>
#include <system_error>

namespace heddle::apps {
namespace {

constexpr std::string_view kPrefix = "heddle-";

/// The folder of this executable, then those of the variable PATH.
std::vector<std::filesystem::path> program_folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown) folders.push_back(self.parent_path());
  const char* variable = std::getenv("PATH");
  std::istringstream path(variable != nullptr ? variable : "");
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return folders;
}

bool is_executable(const std::filesystem::path& file) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(file, unknown) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::vector<std::string> program_names() {
  std::set<std::string> names;
  for (const std::filesystem::path& folder : program_folders()) {
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(kPrefix) && is_executable(entry.path())) {
        names.insert(name.substr(kPrefix.size()));
      }
    }
  }
  return {names.begin(), names.end()};
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  const bool is_word = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
  if (!is_word) return std::nullopt;
  for (const std::filesystem::path& folder : program_folders()) {
    const std::filesystem::path file = folder / fmt::format("{}{}", kPrefix, name);
    if (is_executable(file)) return file;
  }
  return std::nullopt;
}

}  // namespace heddle::apps
