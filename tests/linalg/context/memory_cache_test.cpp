#include <gtest/gtest.h>

#include <array>
#include <heddle/linalg/context/memory_cache.hpp>
#include <set>

namespace heddle::detail {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(MemoryCache, BlocksAreAtMostAQuarterLargerThanAskedForAboveTheSmallestStep) {
  for (std::size_t bytes = 1; bytes <= MemoryCache::kLargest; bytes += bytes / 7 + 1) {
    const std::size_t size = MemoryCache::block_size(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LT(size, bytes + std::max<std::size_t>(bytes / 4 + 1, 512)) << bytes;
    EXPECT_EQ(MemoryCache::block_size(size), size) << bytes;
  }
  EXPECT_EQ(MemoryCache::block_size(MemoryCache::kLargest + 1), MemoryCache::kLargest + 1);
}

TEST(MemoryCache, HandsOutWhatItKeepsOnce) {
  std::array<char, 3> blocks;
  MemoryCache cache(10 * kMiB);
  EXPECT_EQ(cache.take(512), nullptr);
  EXPECT_TRUE(cache.keep(&blocks[0], 512));
  EXPECT_TRUE(cache.keep(&blocks[1], 512));
  EXPECT_TRUE(cache.keep(&blocks[2], 1024));
  EXPECT_EQ(cache.bytes(), 2048u);
  const std::set<void*> small = {cache.take(512), cache.take(512)};
  EXPECT_EQ(small, (std::set<void*>{&blocks[0], &blocks[1]}));
  EXPECT_EQ(cache.take(512), nullptr);
  EXPECT_EQ(cache.take(1024), &blocks[2]);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(MemoryCache, KeepsNoMoreThanAllowed) {
  std::array<char, 3> blocks;
  MemoryCache cache(50 * kMiB);
  EXPECT_FALSE(cache.keep(&blocks[0], MemoryCache::kLargest + 1));
  EXPECT_TRUE(cache.keep(&blocks[0], 30 * kMiB));
  EXPECT_FALSE(cache.keep(&blocks[1], 30 * kMiB));
  EXPECT_TRUE(cache.keep(&blocks[2], 20 * kMiB));
  std::set<void*> freed;
  cache.clear([&freed](void* block) { freed.insert(block); });
  EXPECT_EQ(freed, (std::set<void*>{&blocks[0], &blocks[2]}));
  EXPECT_EQ(cache.bytes(), 0u);
  EXPECT_EQ(cache.take(30 * kMiB), nullptr);
}

}  // namespace
}  // namespace heddle::detail
