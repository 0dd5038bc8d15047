#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <heddle/linalg/base/shared_file.hpp>

namespace heddle {

std::uint64_t file_number(const std::filesystem::path& path) noexcept {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_ino) : 0;
}

SharedFile::SharedFile(const std::filesystem::path& path, std::uint64_t number) noexcept {
  if (number == 0 || file_number(path) != number) return;
  descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
}

SharedFile::~SharedFile() { close(); }

void SharedFile::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  while (descriptor_ >= 0 && !bytes.empty()) {
    const ssize_t written =
        pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ::close(descriptor_);
      descriptor_ = -1;
      return;
    }
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

bool SharedFile::close() noexcept {
  if (descriptor_ < 0) return false;
  const bool closed = ::close(descriptor_) == 0;  // a full disk may show only here
  descriptor_ = -1;
  return closed;
}

}  // namespace heddle
