#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <heddle/linalg/context/host_memory.hpp>
#include <iterator>
#include <limits>
#include <mutex>

namespace heddle::detail {
namespace {

/// Guards the pieces of all contexts: the result of a solve belongs to its context, and may be
/// freed by another thread while a further solve runs. Pieces are large, so that calls are rare.
std::mutex large_pieces;

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Bytes from the huge page in which an address lies to the address.
std::size_t within_huge_page(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kHugePage;
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HEDDLE_ADDRESS_SANITIZER
#endif

#if defined(__linux__) && !defined(HEDDLE_ADDRESS_SANITIZER)

/// Pieces from this size on are kept, and lie in huge pages. With pages of 4 KiB, a product with a
/// large sparse matrix takes up to three times as long because of address translation, and the
/// setup of multigrid, with many arrays of a few MiB, a third longer because of page faults.
constexpr std::size_t kLarge = std::size_t{64} << 10;

bool is_large(std::size_t bytes) { return bytes >= kLarge; }

/// `size` bytes from the system, aligned to huge pages. The kernel places a new mapping directly
/// below older ones, so its end is used: pieces that follow each other can be joined. Unless `huge`
/// is set, pages are of 4 KiB.
std::byte* map_pages(std::size_t size, bool huge) {
  constexpr int kNoFile = -1;
  if (size > std::numeric_limits<std::size_t>::max() - kHugePage) return nullptr;
  const std::size_t mapped = size + kHugePage;
  void* const found =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, kNoFile, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(found);
  const std::size_t after = within_huge_page(begin + mapped);
  std::byte* const piece = begin + (kHugePage - after);
  munmap(begin, kHugePage - after);
  if (after > 0) munmap(piece + size, after);
  if (huge) madvise(piece, size, MADV_HUGEPAGE);
  return piece;
}

void unmap_pages(std::byte* piece, std::size_t size) { munmap(piece, size); }

#else

bool is_large(std::size_t) { return false; }
std::byte* map_pages(std::size_t, bool) { return nullptr; }
void unmap_pages(std::byte*, std::size_t) {}

#endif

}  // namespace

void* HostMemory::allocate(std::size_t bytes) noexcept {
  if (bytes > std::numeric_limits<std::size_t>::max() - kHugePage) return nullptr;
  if (!is_large(bytes)) return std::aligned_alloc(kAlignment, rounded_up(bytes, kAlignment));
  const std::size_t size = rounded_up(bytes, kPage);
  const std::lock_guard lock(large_pieces);
  if (size > std::numeric_limits<std::size_t>::max() - used_) return nullptr;
  std::byte* piece = take_kept(size);
  if (piece == nullptr) {
    release_beyond(std::max(peak_, used_ + size) - (used_ + size));
    const std::size_t mapped = rounded_up(size, kHugePage);
    // A context that needs a single huge page may use little of it, and it is cleared as a whole.
    const bool huge = mapped > kHugePage || used_ > 0;
    std::byte* pages = map_pages(mapped, huge);
    if (pages == nullptr) {
      release_beyond(0);
      pages = map_pages(mapped, huge);
    }
    if (pages == nullptr) return nullptr;
    keep(pages, mapped);  // other pieces take what is left
    piece = take_kept(size);
  }
  if (piece == nullptr) return nullptr;
  used_ += size;
  peak_ = std::max(peak_, used_);
  return piece;
}

void HostMemory::deallocate(void* pointer, std::size_t bytes) noexcept {
  if (!is_large(bytes)) return std::free(pointer);
  const std::size_t size = rounded_up(bytes, kPage);
  const std::lock_guard lock(large_pieces);
  used_ -= size;
  keep(static_cast<std::byte*>(pointer), size);
}

void HostMemory::release() noexcept {
  const std::lock_guard lock(large_pieces);
  for (const auto& [piece, size] : pieces_) unmap_pages(piece, size);
  pieces_.clear();
  kept_ = 0;
}

/// The end of the smallest kept piece that is large enough, nullptr if there is none.
std::byte* HostMemory::take_kept(std::size_t size) noexcept {
  auto best = pieces_.end();
  for (auto piece = pieces_.begin(); piece != pieces_.end(); ++piece) {
    if (piece->second < size) continue;
    if (best == pieces_.end() || piece->second < best->second) best = piece;
  }
  if (best == pieces_.end()) return nullptr;
  kept_ -= size;
  best->second -= size;
  std::byte* const taken = best->first + best->second;
  if (best->second == 0) pieces_.erase(best);
  return taken;
}

/// Returns kept memory to the system, in whole huge pages, until at most `most` bytes are kept or
/// all others lie beside memory in use.
void HostMemory::release_beyond(std::size_t most) noexcept {
  for (auto piece = pieces_.end(); kept_ > most && piece != pieces_.begin();) {
    const auto [begin, size] = *--piece;
    const std::size_t after = within_huge_page(begin + size);
    const std::size_t before = (kHugePage - within_huge_page(begin)) % kHugePage;
    if (size < before + after + kHugePage) continue;
    const std::size_t released =
        std::min(size - before - after, rounded_up(kept_ - most, kHugePage));
    const std::size_t left = size - after - released;
    kept_ -= size;
    piece = pieces_.erase(piece);
    unmap_pages(begin + left, released);
    if (after > 0) keep(begin + size - after, after);
    if (left > 0) keep(begin, left);
    piece = pieces_.lower_bound(begin);
  }
}

/// Adds a piece to those that are kept, joined with its neighbours. Without memory for that, its
/// pages go back to the system as far as nothing else lies in them.
void HostMemory::keep(std::byte* piece, std::size_t size) try {
  const auto [added, unused] = pieces_.emplace(piece, size);
  kept_ += size;
  const auto next = std::next(added);
  if (next != pieces_.end() && piece + size == next->first) {
    added->second += next->second;
    pieces_.erase(next);
  }
  if (added == pieces_.begin()) return;
  const auto before = std::prev(added);
  if (before->first + before->second != piece) return;
  before->second += added->second;
  pieces_.erase(added);
} catch (const std::bad_alloc&) {
  unmap_pages(piece, size);
}

}  // namespace heddle::detail
