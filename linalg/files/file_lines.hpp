#pragma once

#include <cstdint>
#include <filesystem>
#include <heddle/linalg/data/buffer.hpp>
#include <string_view>

namespace heddle::detail {

/// The lines of a file that begin at bytes first … last − 1, in memory. Ranges that follow each
/// other have every line of the file once. A line begins behind a line feed, so that 0 < first.
class FileLines {
 public:
  /// Reads the lines from the file at `path`, which has `bytes` bytes and this `file_number`, else
  /// it is another file or none, and nothing is read. Throws `OutOfMemory`.
  FileLines(HostContext& context, const std::filesystem::path& path, std::uint64_t number,
            std::uint64_t bytes, std::uint64_t first, std::uint64_t last);

  /// Whether the file was found and read.
  bool found() const noexcept { return found_; }
  std::string_view text() const noexcept { return {buffer_.data() + begin_, end_ - begin_}; }

 private:
  Buffer<char, HostSpace> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool found_ = false;
};

}  // namespace heddle::detail
