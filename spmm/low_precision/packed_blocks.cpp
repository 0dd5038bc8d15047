#include <bit>
#include <cstddef>
#include <cstring>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/low_precision/packed_blocks.hpp>

namespace heddle::detail {

PackedBlocks pack_blocks(HostContext& context, const void* words, Index blocks) {
  const auto word_of = [&](Index block, Index lane, Index r) {
    std::uint32_t word = 0;
    std::memcpy(&word,
                static_cast<const std::byte*>(words) +
                    (block * kBlockWords + 4 * lane + r) * static_cast<Index>(sizeof word),
                sizeof word);
    return word;
  };
  constexpr Index kLeastBlocks = 64;
  const Slabs slabs = make_slabs(blocks, kLeastBlocks);
  const auto for_each_block = [&](const auto& body) {
    parallel_for(context.threads(), slabs.count(), [&](Index slab) {
      for (Index block = slabs.begin(slab); block < slabs.end(slab); ++block) body(block);
    });
  };
  PackedBlocks packed;
  packed.masks = {context, static_cast<std::size_t>(4 * blocks)};
  packed.starts = {context, static_cast<std::size_t>(blocks)};
  for_each_block([&](Index block) {
    std::uint32_t count = 0;
    for (Index r = 0; r < 4; ++r) {
      std::uint32_t mask = 0;
      for (Index lane = 0; lane < 32; ++lane) {
        if (word_of(block, lane, r) != 0) mask |= std::uint32_t{1} << lane;
      }
      packed.masks.data()[4 * block + r] = mask;
      count += static_cast<std::uint32_t>(std::popcount(mask));
    }
    packed.starts.data()[block] = count;
  });
  std::uint32_t total = 0;
  for (Index block = 0; block < blocks; ++block) {
    const std::uint32_t count = packed.starts.data()[block];
    packed.starts.data()[block] = total;
    total += count;
  }
  packed.words = {context, total};
  for_each_block([&](Index block) {
    std::uint32_t* to = packed.words.data() + packed.starts.data()[block];
    for (Index r = 0; r < 4; ++r) {
      for (Index lane = 0; lane < 32; ++lane) {
        const std::uint32_t word = word_of(block, lane, r);
        if (word != 0) *to++ = word;
      }
    }
  });
  return packed;
}

}  // namespace heddle::detail
