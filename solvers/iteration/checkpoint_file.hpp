#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <heddle/linalg/base/output_file.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <memory>
#include <string_view>

namespace heddle::detail {

/// A checkpoint file while it is written or read: a sequence of sections, each followed by its
/// CRC-32. A file that is written replaces an earlier one as a whole, or not at all.
class CheckpointFile {
 public:
  /// Opens `path`. Throws `InputError` if it cannot be opened or, when loading, is not a
  /// checkpoint.
  CheckpointFile(const std::filesystem::path& path, Archive::Mode mode);
  ~CheckpointFile();

  bool loading() const noexcept { return in_ != nullptr; }

  /// Writes `count` bytes from `data`, or reads them into it. Throws `InputError`.
  void bytes(void* data, std::size_t count);

  /// Ends a section: writes its check sum, or compares the stored one. Throws `InputError` if they
  /// differ.
  void end_section();

  /// The number of bytes that are left to read.
  std::uint64_t left() const;

  /// Replaces the file at `path` by what was written. Throws `InputError`.
  void commit();

  /// Suffix of the file that is written and then renamed to `path`.
  static constexpr std::string_view kTemporarySuffix = ".part";

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<OutputFile> out_;
  std::unique_ptr<std::FILE, Close> in_;
  std::uint32_t sum_ = 0;
};

}  // namespace heddle::detail
