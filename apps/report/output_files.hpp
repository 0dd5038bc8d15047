#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// Throws `InputError` if results cannot be written to `directory` as far as can be told without
/// making it: its nearest existing parent is no folder, or not writable.
void check_output_directory(const std::filesystem::path& directory);

/// Writes `text` to the file `path`. Throws `InputError`.
void write_text(const std::filesystem::path& path, std::string_view text);

/// The files of one run: they appear in the folder together once all are complete, or not at all.
class OutputFiles {
 public:
  /// Makes the folder if it is not there. Throws `InputError` if it cannot be, or if a file in it
  /// cannot be written.
  explicit OutputFiles(std::filesystem::path directory);

  /// Removes what was not committed, and the folder if it was made here and is empty.
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Adds the file `name`; `write` is called with the path to write it to until `commit`. An
  /// `InputError` that it throws for that path is passed on for the file's own.
  void add(std::string_view name, const std::function<void(const std::filesystem::path&)>& write);

  /// Gives all files their names, in the order they were added. Throws `InputError`.
  void commit();

 private:
  std::filesystem::path directory_;
  std::filesystem::path staging_;  // in `directory_`, so that renaming is atomic; made by `add`
  std::vector<std::string> names_;
  bool made_ = false;  // the folder was not there
};

}  // namespace heddle::apps
