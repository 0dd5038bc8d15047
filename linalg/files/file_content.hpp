#pragma once

#include <filesystem>
#include <heddle/linalg/data/buffer.hpp>
#include <limits>
#include <string_view>

namespace heddle::detail {

/// The bytes of a file in memory, decompressed if it is gzipped.
class FileContent {
 public:
  /// Reads the whole file `path`, plain or gzip (with one or several members), recognised by its
  /// first bytes. Throws `InputError` if it cannot be read, is a folder, or is damaged or truncated
  /// gzip. Throws `OutOfMemory`. `most`: no more bytes than these from the beginning are read.
  FileContent(HostContext& context, const std::filesystem::path& path,
              std::size_t most = std::numeric_limits<std::size_t>::max());

  /// Frees the bytes.
  void release() noexcept {
    buffer_ = {};
    size_ = 0;
  }

  std::string_view bytes() const noexcept { return {buffer_.data(), size_}; }

 private:
  Buffer<char, HostSpace> buffer_;
  std::size_t size_ = 0;
};

}  // namespace heddle::detail
