#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/output_file.hpp>
#include <optional>
#include <system_error>
#include <utility>

namespace heddle::apps {
namespace {

InputError cannot_write(const std::filesystem::path& path, int error) {
  return {path.string(), 0, "cannot be written: " + std::generic_category().message(error)};
}

/// The error message without its leading path.
std::string message_of(const InputError& error) {
  const std::string whole = error.what();
  return whole.rfind(error.path() + ": ", 0) == 0 ? whole.substr(error.path().size() + 2) : whole;
}

constexpr std::string_view kStagingSuffix = ".part";
constexpr std::string_view kPrevious = "previous";

/// The first part of the names of staging folders of this machine. Other machines may use the same
/// output folder at the same time.
std::string staging_prefix() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return fmt::format(".heddle-{}-", host);
}

std::string staging_name(pid_t process) {
  return fmt::format("{}{}{}", staging_prefix(), process, kStagingSuffix);
}

/// The process that owns the staging folder of this name, if it is a staging folder.
std::optional<pid_t> staging_process(std::string_view name) {
  const std::string prefix = staging_prefix();
  pid_t process = 0;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), process);
  if (error != std::errc() || process <= 0) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  return name == kStagingSuffix ? std::optional(process) : std::nullopt;
}

/// Deletes the staging folders of processes that have ended.
void remove_leftovers(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> leftovers;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const auto process = staging_process(entry.path().filename().string());
    if (!process) continue;
    const bool alive = kill(*process, 0) == 0 || errno != ESRCH;
    if (!alive || *process == getpid()) leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) std::filesystem::remove_all(path, error);
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

OutputFolder::OutputFolder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path missing = std::filesystem::absolute(path).lexically_normal();
  if (!missing.has_filename()) missing = missing.parent_path();
  for (; !std::filesystem::exists(missing, error) && missing.has_relative_path();
       missing = missing.parent_path()) {
    made_.insert(made_.begin(), missing);
  }
  std::filesystem::create_directories(path, error);
  if (!error) return;
  remove_empty();
  throw cannot_write(path, error.value());
}

OutputFolder::~OutputFolder() { remove_empty(); }

void OutputFolder::remove_empty() noexcept {
  std::error_code error;
  for (; !made_.empty(); made_.pop_back()) {
    std::filesystem::remove(made_.back(), error);
    if (error) return;
  }
}

OutputFiles::OutputFiles(std::filesystem::path directory)
    : directory_(std::move(directory)),
      staging_(directory_ / staging_name(getpid())),
      folder_(directory_) {
  remove_leftovers(directory_);
  try {
    write_text(staging_, "probe");
  } catch (const InputError& failure) {
    throw InputError(directory_.string(), 0, message_of(failure));
  }
  std::error_code ignored;
  std::filesystem::remove(staging_, ignored);
}

OutputFiles::~OutputFiles() { discard_added(); }

void OutputFiles::discard_added() noexcept {
  std::error_code ignored;
  std::filesystem::remove_all(staging_, ignored);
  names_.clear();
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

void OutputFiles::start(const std::vector<std::string_view>& run_files) {
  if (started_) return;
  const auto cannot = [this](std::string_view name, int error) {
    throw cannot_write(directory_ / name, error);
  };
  std::error_code error;
  std::vector<std::string_view> earlier;
  for (const std::string_view name : run_files) {
    if (std::filesystem::is_directory(directory_ / name, error)) cannot(name, EISDIR);
    if (std::filesystem::exists(directory_ / name, error)) earlier.push_back(name);
  }
  const std::filesystem::path previous = directory_ / kPrevious;
  const bool kept = std::any_of(run_files.begin(), run_files.end(), [&](std::string_view name) {
    return std::filesystem::exists(previous / name, error);
  });
  if (!earlier.empty() && !kept && !std::filesystem::create_directory(previous, error) && error) {
    cannot(kPrevious, error.value());
  }
  for (const std::string_view name : earlier) {
    if (kept) {
      std::filesystem::remove(directory_ / name, error);
    } else {
      std::filesystem::rename(directory_ / name, previous / name, error);
    }
    if (error) cannot(name, error.value());
  }
  started_ = true;
}

void OutputFiles::commit() {
  std::error_code error;
  for (const std::string& name : names_) {
    if (std::filesystem::is_directory(directory_ / name, error)) {
      throw cannot_write(directory_ / name, EISDIR);
    }
  }
  for (const std::string& name : names_) {
    std::filesystem::rename(staging_ / name, directory_ / name, error);
    if (error) throw cannot_write(directory_ / name, error.value());
  }
  discard_added();
}

void OutputFiles::forget_previous(const std::vector<std::string_view>& run_files) noexcept {
  std::error_code ignored;
  const std::filesystem::path previous = directory_ / kPrevious;
  for (const std::string_view name : run_files) std::filesystem::remove(previous / name, ignored);
  std::filesystem::remove(previous, ignored);  // fails if other files are left
}

}  // namespace heddle::apps
