#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/output_file.hpp>
#include <string>
#include <system_error>

namespace heddle {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& what, int error) {
  throw InputError(path.string(), 0, what + ": " + std::strerror(error));
}

/// The path with symbolic links resolved, so that committing replaces the file and not the link.
fs::path resolve(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return path;
  if (fs::is_directory(status)) throw InputError(path.string(), 0, "is a folder, not a file");
  if (!fs::is_regular_file(status)) {
    throw InputError(path.string(), 0, "is not a regular file, so it cannot be replaced");
  }
  const fs::path resolved = fs::canonical(path, error);
  return error ? path : resolved;
}

}  // namespace

OutputFile::OutputFile(const fs::path& path, std::string_view temporary_suffix)
    : path_(resolve(path)), temporary_(path_) {
  if (temporary_suffix.empty()) {
    temporary_ += ".tmp-" + std::to_string(getpid());
  } else {
    temporary_ += temporary_suffix;
  }
  file_.reset(std::fopen(temporary_.c_str(), "wb"));
  if (!file_) fail(path_, "cannot be created", errno);
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  file_.reset();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) {
    fail(path_, "cannot be written", errno);
  }
}

const fs::path& OutputFile::flush() {
  if (std::fflush(file_.get()) != 0) fail(path_, "cannot be written", errno);
  return temporary_;
}

void OutputFile::commit() {
  // Closing flushes the last bytes, so a full disk may show only here.
  if (std::fclose(file_.release()) != 0) fail(path_, "cannot be written", errno);
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) fail(path_, "cannot be replaced", error.value());
  temporary_.clear();
}

}  // namespace heddle
