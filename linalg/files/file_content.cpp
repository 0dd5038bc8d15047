#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/files/file_content.hpp>
#include <memory>
#include <string>
#include <system_error>

namespace heddle::detail {
namespace {

constexpr unsigned kZlibBuffer = 1 << 18;
constexpr std::size_t kLargestRead = std::size_t{1} << 30;  // zlib counts in 32 bits

struct CloseGz {
  void operator()(gzFile_s* file) const noexcept { gzclose_r(file); }
};
using GzFile = std::unique_ptr<gzFile_s, CloseGz>;

/// zlib also reads plain files unchanged, so both kinds share this path.
GzFile open(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(path.string(), 0, "is a folder, not a file");
  }
  errno = 0;
  GzFile file(gzopen(path.c_str(), "rb"));
  if (!file) {
    throw InputError(
        path.string(), 0,
        std::string("cannot be opened: ") + std::strerror(errno != 0 ? errno : ENOMEM));
  }
  gzbuffer(file.get(), kZlibBuffer);
  return file;
}

/// Throws if the last read failed or the compressed data ended early.
void check_gz(gzFile_s* file, const std::filesystem::path& path) {
  const int system_error = errno;
  int code = Z_OK;
  const char* message = gzerror(file, &code);
  if (code == Z_OK || code == Z_STREAM_END) return;
  if (code == Z_ERRNO) {
    throw InputError(path.string(), 0,
                     std::string("cannot be read: ") + std::strerror(system_error));
  }
  if (code == Z_BUF_ERROR) {
    throw InputError(path.string(), 0, "the gzip data ends too early: the file is truncated");
  }
  throw InputError(path.string(), 0, std::string("damaged gzip data: ") + message);
}

/// The initial capacity: the size of a plain file plus one byte, so that the end of the file is
/// detected without growing.
std::size_t first_capacity(const std::filesystem::path& path) {
  constexpr std::size_t kLeast = 1 << 16;
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  return unknown ? kLeast : std::max<std::size_t>(kLeast, static_cast<std::size_t>(size) + 1);
}

}  // namespace

FileContent::FileContent(HostContext& context, const std::filesystem::path& path,
                         std::size_t most) {
  const GzFile file = open(path);
  buffer_ = {context, std::min(first_capacity(path), most)};
  for (;;) {
    const std::size_t wanted = std::min(buffer_.size() - size_, kLargestRead);
    errno = 0;
    const int got = gzread(file.get(), buffer_.data() + size_, static_cast<unsigned>(wanted));
    check_gz(file.get(), path);
    size_ += static_cast<std::size_t>(std::max(got, 0));
    if (static_cast<std::size_t>(got) < wanted || size_ == most) return;
    if (size_ == buffer_.size()) {
      Buffer<char, HostSpace> larger(context, std::min(2 * buffer_.size(), most));
      std::copy_n(buffer_.data(), size_, larger.data());
      buffer_ = std::move(larger);
    }
  }
}

}  // namespace heddle::detail
