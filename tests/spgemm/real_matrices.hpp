#pragma once

#include <filesystem>
#include <fstream>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/matrix_dir.hpp"

namespace heddle::test {

/// The files of the real matrices of at most `most` entries whose values are real.
inline std::vector<std::filesystem::path> real_matrices(const std::filesystem::path& folder,
                                                        Index most) {
  constexpr std::size_t kFile = 1;
  constexpr std::size_t kEntries = 5;
  constexpr std::size_t kField = 6;
  std::ifstream stream(folder / "MANIFEST.tsv");
  std::string line;
  std::getline(stream, line);
  std::vector<std::filesystem::path> files;
  while (std::getline(stream, line)) {
    std::vector<std::string> cells;
    std::istringstream words(line);
    for (std::string cell; std::getline(words, cell, '\t');) cells.push_back(cell);
    if (cells.at(kField) == "complex" || std::stoll(cells.at(kEntries)) > most) continue;
    files.push_back(folder / cells.at(kFile));
  }
  return files;
}

}  // namespace heddle::test
