#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/numpy/zip_archive.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kWideEnd = 0x06064b50;
constexpr std::uint32_t kWideEndLocator = 0x07064b50;
constexpr std::uint64_t kEndSize = 22;
constexpr std::uint64_t kWideEndSize = 56;
constexpr std::uint64_t kLocatorSize = 20;
constexpr std::uint64_t kEntrySize = 46;
constexpr std::uint64_t kLocalHeaderSize = 30;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  // stands for a number that has a field elsewhere
constexpr std::uint16_t kWideSizesTag = 1;

constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kMostDeflated = 1032;  // bytes that one byte of deflate can stand for

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

/// Calls zlib's raw inflate and frees its state.
class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Whether `packed` is one whole deflate stream of exactly `size` bytes, which are stored at
  /// `to`. Unless `whole`, more may follow.
  bool run(std::string_view packed, char* to, std::uint64_t size, bool whole) {
    if (!ready_) return false;
    char nothing = 0;  // zlib refuses a null pointer, also where no byte is written
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.next_out = reinterpret_cast<Bytef*>(size > 0 ? to : &nothing);
    std::uint64_t unread = packed.size();
    std::uint64_t missing = size;
    for (;;) {  // zlib counts in 32 bits
      const auto in = static_cast<uInt>(std::min<std::uint64_t>(unread, kStep));
      const auto out = static_cast<uInt>(std::min<std::uint64_t>(missing, kStep));
      stream_.avail_in = in;
      stream_.avail_out = out;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      unread -= in - stream_.avail_in;
      missing -= out - stream_.avail_out;
      if (!whole && missing == 0) return true;
      if (code == Z_STREAM_END) return unread == 0 && missing == 0;
      const bool moved = stream_.avail_in < in || stream_.avail_out < out;
      if (code != Z_OK || !moved) return false;
    }
  }

 private:
  static constexpr std::uint64_t kStep = std::uint64_t{1} << 30;

  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

ZipArchive::ZipArchive(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {
  read_directory();
}

const ZipArchive::Member* ZipArchive::find(std::string_view name) const noexcept {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return member.name == name; });
  return found == members_.end() ? nullptr : &*found;
}

Buffer<char, HostSpace> ZipArchive::extract(HostContext& context, const Member& member) const {
  Buffer<char, HostSpace> content =
      extract_beginning(context, member, std::numeric_limits<std::size_t>::max());
  const auto* data = reinterpret_cast<const Bytef*>(content.data());
  if (content.size() > 0 && crc32_z(0, data, content.size()) != member.checksum) {
    fail(fmt::format("the checksum of member {} is wrong: the archive is damaged",
                     detail::quoted(member.name)));
  }
  return content;
}

Buffer<char, HostSpace> ZipArchive::extract_beginning(HostContext& context, const Member& member,
                                                      std::size_t most_bytes) const {
  const std::string_view packed = packed_data(member);
  const std::uint64_t most =
      member.method == kStored ? packed.size() : kMostDeflated * packed.size();
  if (member.size > most || (member.method == kStored && member.size != most)) {
    fail(fmt::format("member {} claims {} bytes in {} packed ones, which is impossible",
                     detail::quoted(member.name), member.size, packed.size()));
  }
  const std::size_t size = std::min(static_cast<std::size_t>(member.size), most_bytes);
  Buffer<char, HostSpace> content(context, size);
  if (member.method == kStored) {
    std::copy_n(packed.data(), size, content.data());
  } else if (!Inflater().run(packed, content.data(), size, size == member.size)) {
    fail(fmt::format("the compressed data of member {} are damaged", detail::quoted(member.name)));
  }
  return content;
}

void ZipArchive::fail(const std::string& message) const { throw InputError(name_, 0, message); }

std::string_view ZipArchive::part(std::uint64_t at, std::uint64_t size) const {
  if (at > bytes_.size() || size > bytes_.size() - at) {
    fail("the zip archive is damaged or truncated: it refers to bytes behind its end");
  }
  return bytes_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

std::uint64_t ZipArchive::number(std::uint64_t at, int bytes) const {
  return little_endian(part(at, static_cast<std::uint64_t>(bytes)));
}

/// The position of the end record, which is followed by a comment of at most 65535 bytes.
std::uint64_t ZipArchive::find_end() const {
  constexpr std::uint64_t kLongestComment = 0xffff;
  const std::uint64_t size = bytes_.size();
  for (std::uint64_t comment = 0; comment <= kLongestComment; ++comment) {
    if (size < kEndSize + comment) break;
    const std::uint64_t at = size - kEndSize - comment;
    if (number(at, 4) == kEnd && number(at + 20, 2) == comment) return at;
  }
  fail("the zip archive is truncated: its directory is missing");
}

void ZipArchive::read_directory() {
  const std::uint64_t end = find_end();
  std::uint64_t disk = number(end + 4, 2);
  std::uint64_t count = number(end + 10, 2);
  std::uint64_t at = number(end + 16, 4);
  const bool wide = end >= kLocatorSize && number(end - kLocatorSize, 4) == kWideEndLocator;
  if (wide) {
    const std::uint64_t record = number(end - kLocatorSize + 8, 8);
    if (part(record, kWideEndSize); number(record, 4) != kWideEnd) {
      fail("the zip archive is damaged: its 64-bit directory is missing");
    }
    disk = number(record + 16, 4);
    count = number(record + 32, 8);
    at = number(record + 48, 8);
  }
  if (disk != 0) fail("is one part of a zip archive in several parts");
  if (count > bytes_.size() / kEntrySize) fail("the zip archive is damaged: it claims too much");
  for (std::uint64_t k = 0; k < count; ++k) at = read_entry(at);
  std::vector<std::string_view> names;
  for (const Member& member : members_) names.push_back(member.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) fail("holds two members of the name " + detail::quoted(*twice));
}

/// Appends the member whose directory entry is at `at`. Returns the position of the next entry.
std::uint64_t ZipArchive::read_entry(std::uint64_t at) {
  part(at, kEntrySize);
  if (number(at, 4) != kDirectoryEntry) fail("the directory of the zip archive is damaged");
  Member member;
  member.flags = static_cast<std::uint16_t>(number(at + 8, 2));
  member.method = static_cast<std::uint16_t>(number(at + 10, 2));
  member.checksum = static_cast<std::uint32_t>(number(at + 16, 4));
  member.packed_size = number(at + 20, 4);
  member.size = number(at + 24, 4);
  member.header_at = number(at + 42, 4);
  const std::uint64_t name_size = number(at + 28, 2);
  const std::uint64_t extra_size = number(at + 30, 2);
  const std::uint64_t comment_size = number(at + 32, 2);
  const std::uint64_t name_end = at + kEntrySize + name_size;
  member.name = part(at + kEntrySize, name_size);
  read_wide_sizes(part(name_end, extra_size), member);
  members_.push_back(std::move(member));
  return name_end + extra_size + comment_size;
}

/// Sets those numbers of `member` that did not fit in 32 bits from its extra fields.
void ZipArchive::read_wide_sizes(std::string_view extra, Member& member) const {
  constexpr std::size_t kTagSize = 4;
  while (extra.size() >= kTagSize) {
    const std::uint64_t tag = little_endian(extra.substr(0, 2));
    const auto size = static_cast<std::size_t>(little_endian(extra.substr(2, 2)));
    if (size > extra.size() - kTagSize) fail("the directory of the zip archive is damaged");
    std::string_view field = extra.substr(kTagSize, size);
    extra.remove_prefix(kTagSize + size);
    if (tag != kWideSizesTag) continue;
    for (std::uint64_t* value : {&member.size, &member.packed_size, &member.header_at}) {
      if (*value != kIn64Bits) continue;
      if (field.size() < 8) fail("the directory of the zip archive is damaged");
      *value = little_endian(field.substr(0, 8));
      field.remove_prefix(8);
    }
  }
}

std::string_view ZipArchive::packed_data(const Member& member) const {
  if ((member.flags & 1) != 0) fail("member " + detail::quoted(member.name) + " is encrypted");
  if (member.method != kStored && member.method != kDeflated) {
    fail(fmt::format("member {} is compressed by method {}, known are stored and deflated",
                     detail::quoted(member.name), member.method));
  }
  part(member.header_at, kLocalHeaderSize);
  if (number(member.header_at, 4) != kLocalHeader) {
    fail("the zip archive is damaged: member " + detail::quoted(member.name) + " has no header");
  }
  const std::uint64_t start = member.header_at + kLocalHeaderSize +
                              number(member.header_at + 26, 2) + number(member.header_at + 28, 2);
  return part(start, member.packed_size);
}

}  // namespace heddle::detail
