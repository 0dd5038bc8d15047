#pragma once

#include <cstdint>
#include <heddle/linalg/data/buffer.hpp>

/// Dense blocks without their zeros, in words of 32 bits: a value of TF32, or two of 16 bits.
namespace heddle::detail {

/// Words of a block in `fragment_order`: word 4·lane + r is register r of the lane.
inline constexpr int kBlockWords = 128;

/// Bit `lane` of masks[4·block + r] is set where register r of the lane is not 0. The words that
/// are not 0 lie from words[starts[block]] on, register by register, lanes ascending.
struct PackedBlocks {
  Buffer<std::uint32_t, HostSpace> masks;   ///< 4 per block
  Buffer<std::uint32_t, HostSpace> starts;  ///< 1 per block
  Buffer<std::uint32_t, HostSpace> words;

  std::size_t bytes() const noexcept {
    return sizeof(std::uint32_t) * (masks.size() + starts.size() + words.size());
  }
};

/// Packs the words of so many blocks, in parallel with the same result for every number of threads.
/// There must be fewer than 2³² words that are not 0. Throws `OutOfMemory`.
PackedBlocks pack_blocks(HostContext& context, const void* words, Index blocks);

}  // namespace heddle::detail
