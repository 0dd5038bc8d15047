#pragma once

#include <cstdint>
#include <heddle/linalg/data/buffer.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// A zip archive in memory, stored or deflated, also with 64-bit sizes. Not encrypted, and in one
/// part. Source: PKWARE, APPNOTE.TXT - .ZIP File Format Specification, 6.3.
class ZipArchive {
 public:
  struct Member {
    std::string name;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t header_at = 0;
  };

  /// Reads the directory of the archive in `bytes`, which must outlive it. Throws `InputError` for
  /// a damaged directory and for a name that occurs twice. Messages use `name` for the archive.
  ZipArchive(std::string_view bytes, std::string_view name);

  const std::vector<Member>& members() const noexcept { return members_; }

  /// The member of this name, null if there is none.
  const Member* find(std::string_view name) const noexcept;

  /// The content of a member. Throws `InputError` for data that are damaged, encrypted or
  /// compressed in another way, and for a size that they cannot have: memory is at most 1032 times
  /// the archive, the most that deflate compresses. Throws `OutOfMemory`.
  Buffer<char, HostSpace> extract(HostContext& context, const Member& member) const;

  /// The first `most` bytes of what `extract` returns, all if there are fewer. Their checksum is
  /// not compared.
  Buffer<char, HostSpace> extract_beginning(HostContext& context, const Member& member,
                                            std::size_t most) const;

 private:
  [[noreturn]] void fail(const std::string& message) const;
  std::uint64_t number(std::uint64_t at, int bytes) const;
  std::string_view part(std::uint64_t at, std::uint64_t size) const;
  std::uint64_t find_end() const;
  void read_directory();
  std::uint64_t read_entry(std::uint64_t at);
  void read_wide_sizes(std::string_view extra, Member& member) const;
  std::string_view packed_data(const Member& member) const;

  std::string_view bytes_;
  std::string name_;
  std::vector<Member> members_;
};

}  // namespace heddle::detail
