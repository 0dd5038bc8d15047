#pragma once

#include <bit>
#include <cstddef>
#include <map>
#include <vector>

namespace heddle::detail {

/// Blocks of device memory that were freed and are handed out again, because even a pool of the
/// driver takes some microseconds per call. It holds addresses, and neither allocates nor frees
/// blocks itself.
class MemoryCache {
 public:
  /// Larger blocks are not kept. To fetch them takes less time than to fill them.
  static constexpr std::size_t kLargest = std::size_t{32} << 20;

  /// `most_bytes`: of all blocks that are kept.
  explicit MemoryCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The size of the block for a request of `bytes`: up to a quarter more, so that requests of
  /// about that size share blocks, or `bytes` where blocks are not kept.
  static std::size_t block_size(std::size_t bytes) {
    constexpr std::size_t kLeast = 512;
    constexpr std::size_t kSteps = 4;  // per power of two
    if (bytes > kLargest) return bytes;
    const std::size_t power = std::bit_floor(bytes);
    const std::size_t step = power / kSteps > kLeast ? power / kSteps : kLeast;
    return (bytes + step - 1) / step * step;
  }

  /// A kept block of this size, which is kept no longer. Null if there is none.
  void* take(std::size_t size) noexcept {
    const auto kept = blocks_.find(size);
    if (kept == blocks_.end() || kept->second.empty()) return nullptr;
    void* const block = kept->second.back();
    kept->second.pop_back();
    bytes_ -= size;
    return block;
  }

  /// Keeps a block of this size. Returns false if that is too much.
  bool keep(void* block, std::size_t size) noexcept {
    if (size > kLargest || size > most_bytes_ - bytes_) return false;
    try {
      blocks_[size].push_back(block);
    } catch (...) {
      return false;
    }
    bytes_ += size;
    return true;
  }

  /// Calls free(block) for all blocks, and keeps them no longer.
  template <class Free>
  void clear(const Free& free) noexcept {
    for (const auto& [size, blocks] : blocks_) {
      for (void* block : blocks) free(block);
    }
    blocks_.clear();
    bytes_ = 0;
  }

  /// The bytes of all blocks that are kept.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::map<std::size_t, std::vector<void*>> blocks_;
};

}  // namespace heddle::detail
