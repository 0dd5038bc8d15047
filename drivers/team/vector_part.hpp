#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <heddle/linalg/data/block_source.hpp>

namespace heddle::detail {

/// The vectors of a solution, or the left ones of singular triplets.
enum class VectorSide { right, left };

/// The request of process 0 to the others: rows in a window or, where there is a file, own rows in
/// this file.
struct VectorPart {
  VectorSide side = VectorSide::right;
  BlockWindow window{};  ///< of all rows where there is a file
  std::filesystem::path file{};
  std::uint64_t file_number = 0;
  std::size_t offset = 0;  ///< of the first row in the file
};

}  // namespace heddle::detail
