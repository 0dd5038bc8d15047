#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <heddle/spmm/select/verdicts.hpp>
#include <heddle/spmm/spmm.hpp>
#include <sstream>

namespace heddle {

std::string default_verdict_file() {
  const auto variable = [](const char* name) -> std::filesystem::path {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  // The XDG Base Directory Specification: relative paths are not valid.
  std::filesystem::path folder = variable("XDG_CACHE_HOME");
  if (!folder.is_absolute()) {
    const std::filesystem::path home = variable("HOME");
    if (!home.is_absolute()) return {};
    folder = home / ".cache";
  }
  return (folder / "heddle" / "spmm-verdicts").string();
}

}  // namespace heddle

namespace heddle::detail {
namespace {

constexpr std::string_view kFormat = "heddle spmm verdicts 1";

/// FNV-1a.
std::uint64_t checksum(std::string_view text) noexcept {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return hash;
}

std::string line_of(const VerdictKey& key, const std::string& kernel) {
  const std::string text =
      fmt::format("{:016x} {} {} {} {} {} {} {}", key.pattern, key.rows, key.cols, key.nnz, key.N,
                  key.scalar_bytes, kernel, key.device);
  return fmt::format("{} #{:016x}\n", text, checksum(text));
}

/// A line of a file. Empty if it is damaged.
std::optional<std::pair<VerdictKey, std::string>> parse(const std::string& line) {
  const std::size_t mark = line.rfind(" #");
  if (mark == std::string::npos) return std::nullopt;
  const std::string text = line.substr(0, mark);
  if (line.substr(mark) != fmt::format(" #{:016x}", checksum(text))) return std::nullopt;
  std::istringstream fields(text);
  VerdictKey key;
  std::string kernel;
  fields >> std::hex >> key.pattern >> std::dec >> key.rows >> key.cols >> key.nnz >> key.N >>
      key.scalar_bytes >> kernel >> std::ws;
  std::getline(fields, key.device);
  if (fields.fail()) return std::nullopt;
  return std::pair(key, kernel);
}

bool is_foreign(const std::string& first_line) { return first_line != kFormat; }

std::string foreign_text(const std::string& file) {
  return fmt::format("'{}' is not a file of verdicts, it is left alone", file);
}

}  // namespace

std::optional<std::string> Verdicts::find(const VerdictKey& key, const std::string& file,
                                          std::string& warning) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (file.empty()) return std::nullopt;
  std::ifstream stream(file);
  std::string line;
  if (!stream || !std::getline(stream, line)) return std::nullopt;
  if (is_foreign(line)) {
    warning = foreign_text(file);
    return std::nullopt;
  }
  std::optional<std::string> kernel;
  Index damaged = 0;
  while (std::getline(stream, line)) {
    auto verdict = parse(line);
    if (!verdict) {
      ++damaged;
    } else if (verdict->first == key) {
      kernel = std::move(verdict->second);
    }
  }
  if (damaged > 0) warning = fmt::format("{} damaged lines of '{}' are ignored", damaged, file);
  if (kernel) known_.emplace(key, *kernel);
  return kernel;
}

void Verdicts::keep(const VerdictKey& key, const std::string& kernel, const std::string& file,
                    std::string& warning) {
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(key, kernel);
  if (file.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  std::ifstream before(file);
  std::string first_line;
  const bool exists = before && std::getline(before, first_line);
  if (exists && is_foreign(first_line)) {
    warning = foreign_text(file);
    return;
  }
  std::ofstream stream(file, std::ios::app);
  // One write, so that lines of several processes do not mix.
  const std::string begin = exists ? std::string() : fmt::format("{}\n", kFormat);
  stream << begin + line_of(key, kernel);
  stream.close();
  if (!stream) warning = fmt::format("'{}' cannot be written", file);
}

Verdicts& verdicts() {
  static Verdicts all;
  return all;
}

}  // namespace heddle::detail
