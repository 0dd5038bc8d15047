#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

#include "support/source_dir.hpp"

namespace heddle::test {

/// The folder of real matrices with its MANIFEST.tsv: the value of the environment variable
/// HEDDLE_MATRIX_DIR, else `shared/matrices` beside the source tree. Empty if neither exists. Tests
/// that need it then call `GTEST_SKIP() << "no matrix folder"`.
inline std::optional<std::filesystem::path> matrix_dir() {
  namespace fs = std::filesystem;
  const char* given = std::getenv("HEDDLE_MATRIX_DIR");
  const fs::path beside = source_dir() / "../shared/matrices";
  const fs::path folder = given != nullptr ? fs::path(given) : beside.lexically_normal();
  std::error_code ignored;
  if (!fs::is_regular_file(folder / "MANIFEST.tsv", ignored)) return std::nullopt;
  return folder;
}

}  // namespace heddle::test
