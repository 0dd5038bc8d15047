#pragma once

#include <cstddef>
#include <map>

namespace heddle::detail {

/// Memory of the host for one context. It keeps large pieces that were freed and gives them out
/// again, cut or joined as needed: the system clears every page that it gives to a process. Beyond
/// the most that was in use at once, it keeps only what shares a huge page (2 MiB) with memory in
/// use. What it gives back, the process keeps for its next contexts, up to some huge pages.
///
/// Only on Linux, and not under the address sanitizer, which could not see accesses to freed pieces
/// then. Elsewhere, and for small pieces, this is `std::aligned_alloc` and `std::free`.
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory() { release(); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Returns `bytes` > 0 of uninitialised memory, aligned to 64 bytes, nullptr if there is none.
  void* allocate(std::size_t bytes) noexcept;

  /// Frees what `allocate` returned for this many bytes.
  void deallocate(void* pointer, std::size_t bytes) noexcept;

  /// Returns kept memory to the system, except for the rest of huge pages in which memory is in
  /// use.
  void release() noexcept;

  /// Bytes that are kept.
  std::size_t kept_bytes() const noexcept { return kept_; }

 private:
  using Pieces = std::map<std::byte*, std::size_t>;  // address and bytes

  std::byte* take_kept(std::size_t size) noexcept;
  void release_beyond(std::size_t most) noexcept;
  void keep(std::byte* piece, std::size_t size);

  Pieces pieces_;  // that are kept, none beside another one
  std::size_t kept_ = 0;
  std::size_t used_ = 0;  // in large pieces
  std::size_t peak_ = 0;  // the most that was used at once
};

}  // namespace heddle::detail
