#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

namespace heddle {

/// A file that appears under its name only when it is complete. It is written under a temporary
/// name in the same folder, and `commit` renames it. If it is not committed, or after a failure,
/// the temporary file is deleted and an existing file of that name stays unchanged.
class OutputFile {
 public:
  /// `temporary_suffix` is the ending of the temporary name, by default one that is unique to this
  /// process. Throws `InputError` if no file can be created in the folder of `path`, or if `path`
  /// exists and is not a file.
  explicit OutputFile(const std::filesystem::path& path, std::string_view temporary_suffix = {});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Throws `InputError`, for example if the disk is full.
  void write(std::string_view text);

  /// Writes what has been buffered, and returns the temporary name of the file. Throws
  /// `InputError`.
  const std::filesystem::path& flush();

  /// Closes the file and renames it to its final name. Throws `InputError`.
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
