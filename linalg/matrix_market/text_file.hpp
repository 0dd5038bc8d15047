#pragma once

#include <filesystem>
#include <heddle/linalg/data/buffer.hpp>
#include <string_view>

namespace heddle {

/// A file's text in memory, decompressed if it was gzipped.
class TextFile {
 public:
  /// Reads all of `path`: plain, or gzip (one member or several) by its first bytes. Throws
  /// `InputError` if it cannot be read, is a folder, or is damaged or truncated gzip;
  /// `OutOfMemory`.
  TextFile(HostContext& context, const std::filesystem::path& path);

  std::string_view text() const noexcept { return {buffer_.data(), size_}; }

 private:
  Buffer<char, HostSpace> buffer_;
  std::size_t size_ = 0;
};

}  // namespace heddle
