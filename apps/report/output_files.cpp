#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/output_file.hpp>
#include <system_error>
#include <utility>

namespace heddle::apps {
namespace {

InputError cannot_write(const std::filesystem::path& path, int error) {
  return {path.string(), 0, "cannot be written: " + std::generic_category().message(error)};
}

/// The error without the path in front of it.
std::string message_of(const InputError& error) {
  const std::string whole = error.what();
  return whole.rfind(error.path() + ": ", 0) == 0 ? whole.substr(error.path().size() + 2) : whole;
}

}  // namespace

void check_output_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::path existing = std::filesystem::absolute(directory).lexically_normal();
  while (!std::filesystem::exists(existing, error) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  if (!std::filesystem::is_directory(existing, error)) {
    throw InputError(directory.string(), 0,
                     fmt::format("cannot be the output folder: {} is a file", existing.string()));
  }
  if (access(existing.c_str(), W_OK | X_OK) != 0) throw cannot_write(existing, errno);
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

OutputFiles::OutputFiles(std::filesystem::path directory)
    : directory_(std::move(directory)),
      staging_(directory_ / fmt::format(".heddle-{}.part", getpid())) {
  std::error_code error;
  made_ = !std::filesystem::exists(directory_, error);
  std::filesystem::create_directories(directory_, error);
  if (error) throw cannot_write(directory_, error.value());
  try {
    write_text(staging_, "probe");
  } catch (const InputError& failure) {
    throw InputError(directory_.string(), 0, message_of(failure));
  }
  std::filesystem::remove(staging_, error);
}

OutputFiles::~OutputFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(staging_, ignored);
  if (made_) std::filesystem::remove(directory_, ignored);  // which fails if it holds something
}

void OutputFiles::add(std::string_view name,
                      const std::function<void(const std::filesystem::path&)>& write) {
  try {
    std::filesystem::create_directory(staging_);
    write(staging_ / name);
  } catch (const InputError& failure) {
    throw InputError((directory_ / name).string(), 0, message_of(failure));
  }
  names_.emplace_back(name);
}

void OutputFiles::commit() {
  for (const std::string& name : names_) {
    std::error_code error;
    std::filesystem::rename(staging_ / name, directory_ / name, error);
    if (error) throw cannot_write(directory_ / name, error.value());
  }
  names_.clear();
}

}  // namespace heddle::apps
