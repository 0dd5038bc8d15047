#include <algorithm>
#include <fstream>
#include <heddle/linalg/base/shared_file.hpp>
#include <heddle/linalg/files/file_lines.hpp>
#include <system_error>
#include <utility>

namespace heddle::detail {
namespace {

/// Bytes behind the range that are read to find the end of its last line.
constexpr std::uint64_t kFurther = 1 << 12;

}  // namespace

FileLines::FileLines(HostContext& context, const std::filesystem::path& path, std::uint64_t number,
                     std::uint64_t bytes, std::uint64_t first, std::uint64_t last) {
  std::error_code unknown;
  if (number == 0 || file_number(path) != number) return;
  if (std::filesystem::file_size(path, unknown) != bytes || unknown) return;
  std::ifstream file(path, std::ios::binary);
  const std::uint64_t from = first - 1;  // with the line feed before a line that begins at `first`
  std::uint64_t to = from;               // the end of what has been read
  file.seekg(static_cast<std::streamoff>(from));
  const auto read_up_to = [&](std::uint64_t end) {
    Buffer<char, HostSpace> larger(context, static_cast<std::size_t>(end - from));
    std::copy_n(buffer_.data(), to - from, larger.data());
    buffer_ = std::move(larger);
    file.read(buffer_.data() + (to - from), static_cast<std::streamsize>(end - to));
    to = end;
    return static_cast<bool>(file);
  };
  const auto behind_feed = [&](std::uint64_t place) {  // the first from there on; 0: none
    const std::string_view text(buffer_.data(), static_cast<std::size_t>(to - from));
    const std::size_t found = text.find('\n', static_cast<std::size_t>(place - from));
    return found == std::string_view::npos ? 0 : from + found + 1;
  };
  if (!read_up_to(std::min(bytes, last + kFurther))) return;
  const std::uint64_t begin = behind_feed(from);
  found_ = true;
  if (begin == 0 || begin >= last) return;
  std::uint64_t end = behind_feed(last - 1);
  while (end == 0 && to < bytes) {
    if (!read_up_to(std::min(bytes, to + (to - from)))) {
      found_ = false;
      return;
    }
    end = behind_feed(last - 1);
  }
  begin_ = static_cast<std::size_t>(begin - from);
  end_ = static_cast<std::size_t>((end == 0 ? bytes : end) - from);
}

}  // namespace heddle::detail
