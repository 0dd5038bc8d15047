#include <gtest/gtest.h>

#include <heddle/spmm/low_precision/packed_blocks.hpp>
#include <random>
#include <vector>

namespace heddle::detail {
namespace {

/// The block as a lane's registers read it.
std::vector<std::uint32_t> unpacked(const PackedBlocks& packed, Index block) {
  std::vector<std::uint32_t> words(kBlockWords, 0);
  const std::uint32_t* from = packed.words.data() + packed.starts.data()[block];
  for (std::size_t r = 0; r < 4; ++r) {
    const std::uint32_t mask = packed.masks.data()[4 * block + static_cast<Index>(r)];
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) != 0) words[4 * lane + r] = *from++;
    }
  }
  return words;
}

TEST(PackedBlocks, KeepEveryWordThatIsNotZero) {
  std::mt19937 engine(3);
  std::vector<std::uint32_t> words;
  std::size_t stored = 0;
  constexpr Index kBlocks = 150;
  for (Index block = 0; block < kBlocks; ++block) {
    for (int k = 0; k < kBlockWords; ++k) {
      const bool zero = block % 3 == 0 ? k != 5 : block % 3 == 1 && engine() % 4 != 0;
      words.push_back(zero ? 0 : static_cast<std::uint32_t>(engine()) | 1);
      stored += zero ? 0 : 1;
    }
  }
  for (const int threads : {1, 3}) {
    HostContext context(threads);
    const PackedBlocks packed = pack_blocks(context, words.data(), kBlocks);
    EXPECT_EQ(packed.words.size(), stored);
    EXPECT_EQ(packed.bytes(), 4 * (stored + 5 * kBlocks));
    for (Index block = 0; block < kBlocks; ++block) {
      const auto first = words.begin() + block * kBlockWords;
      EXPECT_EQ(unpacked(packed, block), std::vector<std::uint32_t>(first, first + kBlockWords));
    }
  }
}

TEST(PackedBlocks, OfNoBlocks) {
  HostContext context(1);
  EXPECT_EQ(pack_blocks(context, nullptr, 0).bytes(), 0u);
}

}  // namespace
}  // namespace heddle::detail
