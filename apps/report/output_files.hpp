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

/// A folder that is made, with the folders around it, if it is not there. What was made is removed
/// again at the end if it is still empty.
class OutputFolder {
 public:
  /// Throws `InputError` if the folder cannot be made.
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  void remove_empty() noexcept;

  std::vector<std::filesystem::path> made_;  // the innermost last
};

/// The files of one run: they appear in the folder together once all are complete, or not at all.
class OutputFiles {
 public:
  /// Makes the folder if it is not there, and removes what an earlier process on this machine that
  /// lives no more left half-written in it. Throws `InputError` if the folder cannot be made, or if
  /// a file in it cannot be written.
  explicit OutputFiles(std::filesystem::path directory);

  /// Removes what was not committed, and the folder if it was made here and is empty.
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Adds the file `name`; `write` is called with the path to write it to until `commit`. An
  /// `InputError` that it throws for that path is passed on for the file's own.
  void add(std::string_view name, const std::function<void(const std::filesystem::path&)>& write);

  /// Gives all files their names, in the order they were added, and removes those of the files
  /// named in `run_files` that were not added: they belong to an earlier run. Throws `InputError`,
  /// with everything as it was if one of the names is taken by a folder.
  void commit(const std::vector<std::string_view>& run_files = {});

 private:
  std::filesystem::path directory_;
  std::filesystem::path staging_;  // in `directory_`, so that renaming is atomic; made by `add`
  OutputFolder folder_;
  std::vector<std::string> names_;
};

}  // namespace heddle::apps
