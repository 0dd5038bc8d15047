#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/iteration/checkpoint_file.hpp>
#include <system_error>
#include <utility>

namespace heddle::detail {
namespace {

constexpr std::array<char, 16> kMagic = {'h', 'e', 'd', 'd', 'l', 'e', ' ', 'c',
                                         'h', 'e', 'c', 'k', 'p', 't', ' ', 'E'};

}  // namespace

CheckpointFile::CheckpointFile(const std::filesystem::path& path, Archive::Mode mode)
    : path_(path) {
  std::array<char, kMagic.size()> magic = kMagic;
  if (mode == Archive::Mode::save) {
    out_ = std::make_unique<OutputFile>(path, kTemporarySuffix);
    bytes(magic.data(), magic.size());
    return;
  }
  in_.reset(std::fopen(path.c_str(), "rb"));
  if (!in_) {
    throw InputError(
        path.string(), 0,
        fmt::format("no checkpoint can be read: {}; it goes once a solve has converged",
                    std::generic_category().message(errno)));
  }
  const bool fits = left() >= magic.size();
  if (fits) bytes(magic.data(), magic.size());
  if (!fits || magic != kMagic) {
    throw InputError(path.string(), 0, "is not a checkpoint of this version of heddle");
  }
}

CheckpointFile::~CheckpointFile() = default;

void CheckpointFile::bytes(void* data, std::size_t count) {
  if (out_) {
    out_->write({static_cast<const char*>(data), count});
  } else if (std::fread(data, 1, count, in_.get()) != count) {
    throw InputError(path_.string(), 0, "ends too early");
  }
  sum_ = static_cast<std::uint32_t>(crc32_z(sum_, static_cast<const Bytef*>(data), count));
}

void CheckpointFile::end_section() {
  const std::uint32_t sum = std::exchange(sum_, 0);
  std::uint32_t stored = sum;
  bytes(&stored, sizeof stored);
  sum_ = 0;
  if (stored != sum) throw InputError(path_.string(), 0, "is damaged: its check sum is wrong");
}

std::uint64_t CheckpointFile::left() const {
  const long position = std::ftell(in_.get());
  return std::filesystem::file_size(path_) - static_cast<std::uint64_t>(position);
}

void CheckpointFile::commit() { out_->commit(); }

}  // namespace heddle::detail
