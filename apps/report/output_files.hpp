#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// Throws `InputError` if results cannot be written to `directory`, as far as this can be checked
/// without creating it: its nearest existing parent must be a writable folder.
void check_output_directory(const std::filesystem::path& directory);

/// Writes `text` to the file `path`. Throws `InputError`.
void write_text(const std::filesystem::path& path, std::string_view text);

/// Creates a folder, with its parents, if it does not exist. The destructor deletes the folders
/// that it created if they are still empty.
class OutputFolder {
 public:
  /// Throws `InputError` if the folder cannot be created.
  explicit OutputFolder(const std::filesystem::path& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  void remove_empty() noexcept;

  std::vector<std::filesystem::path> made_;  // the innermost last
};

/// The output files of one run. Those that are added appear in the folder together, once all are
/// complete, or none does. A file that grows while the run goes on is written to its place at once.
///
/// The files of an earlier run are moved to the folder `previous` when the run starts, and deleted
/// when it has succeeded. A run that is killed or fails therefore loses no earlier result, and its
/// own files never stand beside those of another run.
class OutputFiles {
 public:
  /// Creates the folder if it does not exist, and deletes incomplete files that an earlier process
  /// on this machine left there. Throws `InputError` if the folder cannot be created or is not
  /// writable.
  explicit OutputFiles(std::filesystem::path directory);

  /// Deletes the files that were not committed, and the folder if it was created here and is empty.
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  const std::filesystem::path& directory() const noexcept { return directory_; }

  /// Moves the files that have one of the names `run_files` to the folder `previous`. If there are
  /// files already, they are those of the last run that succeeded and stay, and the others are
  /// deleted. Only the first call has an effect. Throws `InputError`, before anything is changed,
  /// if one of the names is taken by a folder.
  void start(const std::vector<std::string_view>& run_files);

  /// Adds the file `name`. `write` is called with a temporary path, to which it must write the
  /// file. An `InputError` that it throws for this path is rethrown with the final path.
  void add(std::string_view name, const std::function<void(const std::filesystem::path&)>& write);

  /// Deletes what was added since the last commit.
  void discard_added() noexcept;

  /// Renames all files to their final names, in the order in which they were added. Throws
  /// `InputError` if one of the names is taken by a folder, and then changes nothing.
  void commit();

  /// Deletes the files `run_files` in the folder `previous`, and this folder if it is then empty.
  void forget_previous(const std::vector<std::string_view>& run_files) noexcept;

 private:
  std::filesystem::path directory_;
  std::filesystem::path staging_;  // in `directory_`, so that renaming is atomic; made by `add`
  OutputFolder folder_;
  std::vector<std::string> names_;
  bool started_ = false;
};

}  // namespace heddle::apps
