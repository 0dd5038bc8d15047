#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <heddle/linalg/base/sanitizers.hpp>
#include <heddle/linalg/context/host_memory.hpp>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>

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

#if defined(__linux__) && !defined(HEDDLE_ADDRESS_SANITIZER)

/// Pieces from this size on are kept, and lie in huge pages. With pages of 4 KiB, a product with a
/// large sparse matrix takes up to three times as long because of address translation, and the
/// setup of multigrid, with many arrays of a few MiB, a third longer because of page faults.
/// Virtual machines may forget pages that were not touched for a while: after .2 s a solve of order
/// 1000 waited 9 µs for each of its pages of 4 KiB, and .1 µs for as much of a huge page.
constexpr std::size_t kLarge = 16 * kPage;

bool is_large(std::size_t bytes) { return bytes >= kLarge; }

/// `size` bytes from the system, in huge pages. The kernel places a new mapping directly below
/// older ones, so its end is used: pieces that follow each other can be joined.
std::byte* map_pages(std::size_t size) {
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
  madvise(piece, size, MADV_HUGEPAGE);
  return piece;
}

void unmap_pages(std::byte* piece, std::size_t size) { munmap(piece, size); }

#else

bool is_large(std::size_t) { return false; }
std::byte* map_pages(std::size_t) { return nullptr; }
void unmap_pages(std::byte*, std::size_t) {}

#endif

/// Free pieces by their addresses, none adjacent to another one, and their sizes.
using Pieces = std::map<std::byte*, std::size_t>;

/// Adds a piece, joined with its neighbours. Throws `std::bad_alloc`.
void add(Pieces& pieces, std::byte* piece, std::size_t size) {
  const auto [added, unused] = pieces.emplace(piece, size);
  const auto next = std::next(added);
  if (next != pieces.end() && piece + size == next->first) {
    added->second += next->second;
    pieces.erase(next);
  }
  if (added == pieces.begin()) return;
  const auto before = std::prev(added);
  if (before->first + before->second != piece) return;
  before->second += added->second;
  pieces.erase(added);
}

/// Takes the end of the smallest piece that is large enough, nullptr if there is none.
std::byte* take(Pieces& pieces, std::size_t size) noexcept {
  auto best = pieces.end();
  for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
    if (piece->second < size) continue;
    if (best == pieces.end() || piece->second < best->second) best = piece;
  }
  if (best == pieces.end()) return nullptr;
  best->second -= size;
  std::byte* const taken = best->first + best->second;
  if (best->second == 0) pieces.erase(best);
  return taken;
}

/// Huge pages that no context has, for the next ones: a process of many short solves would else
/// have the same pages cleared for each of them.
struct SparePages {
  static constexpr std::size_t kMost = std::size_t{64} << 20;

  Pieces pieces;
  std::size_t bytes = 0;
};

/// Never destroyed, because contexts may be, at the end of a program.
SparePages& spare() {
  static auto& pages = *new SparePages;
  return pages;
}

/// `size` bytes, a multiple of huge pages, of the spare ones or of the system.
std::byte* obtain_pages(std::size_t size) noexcept {
  std::byte* const pages = take(spare().pieces, size);
  if (pages == nullptr) return map_pages(size);
  spare().bytes -= size;
  return pages;
}

/// Makes the whole huge pages of a piece spare, as far as there may be more, and returns the rest
/// to the system.
void give_back(std::byte* piece, std::size_t size) noexcept {
  const std::size_t before = (kHugePage - within_huge_page(piece)) % kHugePage;
  const std::size_t whole = size < before ? 0 : (size - before) / kHugePage * kHugePage;
  const std::size_t kept = std::min(whole, SparePages::kMost - spare().bytes);
  if (kept == 0) return unmap_pages(piece, size);
  try {
    add(spare().pieces, piece + before, kept);
  } catch (const std::bad_alloc&) {
    return unmap_pages(piece, size);
  }
  spare().bytes += kept;
  if (before > 0) unmap_pages(piece, before);
  const std::size_t end = before + kept;
  if (end < size) unmap_pages(piece + end, size - end);
}

void release_spare() noexcept {
  for (const auto& [piece, size] : spare().pieces) unmap_pages(piece, size);
  spare() = {};
}

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
    std::byte* pages = obtain_pages(mapped);
    if (pages == nullptr) {
      release_beyond(0);
      release_spare();
      pages = obtain_pages(mapped);
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
  release_beyond(0);
}

std::byte* HostMemory::take_kept(std::size_t size) noexcept {
  std::byte* const taken = take(pieces_, size);
  if (taken != nullptr) kept_ -= size;
  return taken;
}

/// Gives kept memory back, in whole huge pages, until at most `most` bytes are kept or all others
/// adjoin memory in use.
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
    give_back(begin + left, released);
    if (after > 0) keep(begin + size - after, after);
    if (left > 0) keep(begin, left);
    piece = pieces_.lower_bound(begin);
  }
}

/// Adds a piece to those that are kept. Without memory for that, its pages go back to the system as
/// far as nothing else lies in them.
void HostMemory::keep(std::byte* piece, std::size_t size) try {
  add(pieces_, piece, size);
  kept_ += size;
} catch (const std::bad_alloc&) {
  unmap_pages(piece, size);
}

}  // namespace heddle::detail
