#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <heddle/apps/standard_input.hpp>
#include <system_error>
#include <vector>

namespace heddle::apps {
namespace {

constexpr const char* kName = "standard input";

[[noreturn]] void fail(const char* what) {
  throw InputError(kName, 0, fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

/// Copies standard input to a file that has no name and that the system deletes with the process.
std::filesystem::path copy_of_standard_input() {
  constexpr std::size_t kChunk = 1 << 16;
  std::FILE* file = std::tmpfile();
  if (file == nullptr) fail("cannot be copied to a temporary file");
  std::vector<char> chunk(kChunk);
  for (;;) {
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), stdin);
    if (std::fwrite(chunk.data(), 1, got, file) < got) fail("cannot be copied to a temporary file");
    if (got < chunk.size()) break;
  }
  if (std::ferror(stdin) != 0) fail("cannot be read");
  if (std::fflush(file) != 0) fail("cannot be copied to a temporary file");
  return fmt::format("/proc/self/fd/{}", fileno(file));
}

}  // namespace

std::string input_name(const std::filesystem::path& path) {
  return path == kStandardInput ? kName : path.string();
}

const std::filesystem::path& standard_input_file() {
  static const std::filesystem::path path = [] {
    struct stat status {};
    const bool is_file = fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
    return is_file ? std::filesystem::path("/dev/stdin") : copy_of_standard_input();
  }();
  return path;
}

const std::filesystem::path& claim_standard_input(std::string_view reader) {
  static std::string claimed_by;
  if (!claimed_by.empty()) {
    throw InvalidArgument(
        fmt::format("standard input is named twice, for {} and for {}", claimed_by, reader));
  }
  claimed_by = reader;
  return standard_input_file();
}

InputError about_standard_input(const InputError& error) {
  const std::string whole = error.what();
  const std::string place =
      error.line() > 0 ? fmt::format("{}:{}: ", error.path(), error.line()) : error.path() + ": ";
  return {kName, error.line(), whole.rfind(place, 0) == 0 ? whole.substr(place.size()) : whole};
}

}  // namespace heddle::apps
