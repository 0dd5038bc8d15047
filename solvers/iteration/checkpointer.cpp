#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/iteration/checkpointer.hpp>
#include <system_error>
#include <utility>

namespace heddle {
namespace {

constexpr std::array<char, 16> kMagic = {'h', 'e', 'd', 'd', 'l', 'e', ' ', 'c',
                                         'h', 'e', 'c', 'k', 'p', 't', ' ', '1'};

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

Checkpointer::Checkpointer(const CheckpointOptions& options, std::vector<std::string> identity)
    : options_(options), identity_(std::move(identity)) {
  if (!kept()) return;
  check_checkpoint_file(options);
  std::error_code missing;
  file_ = std::filesystem::canonical(options.file, missing);
  if (missing) file_ = options.file;
  identity_.insert(identity_.end(), options.identity.begin(), options.identity.end());
}

bool Checkpointer::due(bool stops) const noexcept {
  if (!kept()) return false;
  return stops ||
         std::chrono::duration<double>(Clock::now() - written_).count() >= options_.every_s;
}

void Checkpointer::archive_identity(Archive& archive) {
  std::size_t count = identity_.size();
  archive.values(count);
  for (std::string& fact : identity_) archive.text(fact);
}

void Checkpointer::check_identity(Archive& archive) const {
  const auto refuse = [&](std::string_view theirs, std::string_view ours) {
    throw InputError(
        options_.file.string(), 0,
        fmt::format("is the checkpoint of another solve, with {} in place of {}", theirs, ours));
  };
  std::size_t count = 0;
  archive.values(count);
  std::string fact;
  for (std::size_t i = 0; i < std::max(count, identity_.size()); ++i) {
    fact = "nothing";
    if (i < count) archive.text(fact);
    const std::string ours = i < identity_.size() ? identity_[i] : "nothing";
    if (fact != ours) refuse(fact, ours);
  }
}

void Checkpointer::pass_section(CheckpointFile& file, std::vector<std::byte>& memory) {
  std::uint64_t size = memory.size();
  file.bytes(&size, sizeof size);
  if (file.loading()) memory.resize(std::min(size, file.left()));
  file.bytes(memory.data(), memory.size());
  file.end_section();
}

void Checkpointer::discard() noexcept {
  std::error_code ignored;
  if (kept()) std::filesystem::remove(file_, ignored);
}

void check_checkpoint_file(const CheckpointOptions& options) {
  if (options.file.empty()) return;
  std::error_code error;
  const bool there = std::filesystem::is_regular_file(options.file, error);
  if (there || options.resume) CheckpointFile(options.file, Archive::Mode::load);
  if (there && !options.resume) {
    throw InputError(options.file.string(), 0,
                     "holds the checkpoint of an earlier solve: resume it, or remove the file");
  }
  OutputFile probe(options.file, CheckpointFile::kTemporarySuffix);
}

}  // namespace heddle
