#include "support/source_dir.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace heddle::test {
namespace {

bool is_study(const std::filesystem::path& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("matrices:")) return true;
  }
  return false;
}

}  // namespace

std::filesystem::path source_dir() { return HEDDLE_SOURCE_DIR; }

std::vector<std::filesystem::path> recipe_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(source_dir() / "configs")) {
    if (!is_study(file.path())) files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace heddle::test
