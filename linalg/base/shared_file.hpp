#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace heddle {

/// The identity of a file among all others of its file system, the same on all machines that share
/// it. 0 if the file cannot be found.
std::uint64_t file_number(const std::filesystem::path& path) noexcept;

/// A file that several processes write at once, each at its own places. A failure is kept and ends
/// with `close`, so that a process that cannot see the file, or has no room on it, does not end.
class SharedFile {
 public:
  /// Opens the file at `path` that one process has made, if `number` is its `file_number`: on a
  /// machine that does not share the folder it is another one, or none.
  SharedFile(const std::filesystem::path& path, std::uint64_t number) noexcept;
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Writes the bytes to the place `offset` of the file.
  void write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;

  /// Closes the file. Whether all bytes have been written.
  bool close() noexcept;

 private:
  int descriptor_ = -1;  // -1: closed, or failed
};

}  // namespace heddle
