#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace heddle {

/// A file that appears under its name only when it is complete: it is written beside its place
/// under another name and moved there by `commit`. Without that, or after a failure, nothing of it
/// is left and what was there before stays.
class OutputFile {
 public:
  /// `temporary_suffix`: what its name ends with until then; by default one of this process.
  /// Throws `InputError` if no file can be made beside `path`, or if `path` is something else than
  /// a file.
  explicit OutputFile(const std::filesystem::path& path, std::string_view temporary_suffix = {});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws `InputError`, for example when the disk is full.
  void write(std::string_view text);

  /// Closes the file and gives it its name. Throws `InputError`.
  void commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace heddle
