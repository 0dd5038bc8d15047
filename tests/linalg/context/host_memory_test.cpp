#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <heddle/linalg/context/host_memory.hpp>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

bool keeps() {
  HostMemory memory;
  memory.deallocate(memory.allocate(8 * kMiB), 8 * kMiB);
  return memory.kept_bytes() > 0;
}

/// Memory that is in use, filled with bytes of its own.
struct Piece {
  unsigned char* data;
  std::size_t bytes;
  unsigned char mark;

  void fill() const { std::memset(data, mark, bytes); }
  bool is_whole() const {
    return std::all_of(data, data + bytes, [this](unsigned char byte) { return byte == mark; });
  }
};

TEST(HostMemory, PiecesOfAnySizeAreSeparateAndAligned) {
  HostMemory memory;
  std::mt19937 random(5);
  std::vector<Piece> pieces;
  std::size_t used = 0, most = 0;
  for (int step = 0; step < 200; ++step) {
    const bool adds = pieces.empty() || (used < 60 * kMiB && random() % 2 == 0);
    if (adds) {
      const std::size_t bytes = std::array{100 + random() % 5000, 60000 + random() % 400000,
                                           3 * kMiB + random() % (3 * kMiB),
                                           4 * kMiB + random() % (12 * kMiB)}[random() % 4];
      Piece piece{static_cast<unsigned char*>(memory.allocate(bytes)), bytes,
                  static_cast<unsigned char>(step)};
      ASSERT_NE(piece.data, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.data) % 64, 0u);
      piece.fill();
      pieces.push_back(piece);
      used += bytes + 2 * kMiB;  // rounded to huge pages
      most = std::max(most, used);
    } else {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      EXPECT_TRUE(pieces.back().is_whole());
      memory.deallocate(pieces.back().data, pieces.back().bytes);
      used -= pieces.back().bytes + 2 * kMiB;
      pieces.pop_back();
    }
    EXPECT_LE(memory.kept_bytes(), most);
  }
  for (const Piece& piece : pieces) {
    EXPECT_TRUE(piece.is_whole());
    memory.deallocate(piece.data, piece.bytes);
  }
}

TEST(HostMemory, WhatWasFreedIsCutAndJoined) {
  if (!keeps()) GTEST_SKIP() << "this build keeps no memory";
  HostMemory memory;
  void* const whole = memory.allocate(16 * kMiB);
  memory.deallocate(whole, 16 * kMiB);
  EXPECT_EQ(memory.kept_bytes(), 16 * kMiB);
  std::array<void*, 4> quarters;
  for (void*& quarter : quarters) quarter = memory.allocate(4 * kMiB);
  EXPECT_EQ(memory.kept_bytes(), 0u);
  EXPECT_EQ(*std::min_element(quarters.begin(), quarters.end()), whole);
  for (const std::size_t k : {2U, 0U, 1U, 3U}) memory.deallocate(quarters[k], 4 * kMiB);
  EXPECT_EQ(memory.allocate(16 * kMiB), whole);
  memory.deallocate(whole, 16 * kMiB);
}

TEST(HostMemory, TheSmallestPieceThatSufficesIsTaken) {
  if (!keeps()) GTEST_SKIP() << "this build keeps no memory";
  HostMemory memory;
  memory.deallocate(memory.allocate(32 * kMiB), 32 * kMiB);  // of which all are cut, side by side
  void* const large = memory.allocate(20 * kMiB);
  void* const between = memory.allocate(4 * kMiB);
  void* const small = memory.allocate(8 * kMiB);
  memory.deallocate(large, 20 * kMiB);
  memory.deallocate(small, 8 * kMiB);
  EXPECT_EQ(memory.allocate(8 * kMiB), small);
  memory.deallocate(small, 8 * kMiB);
  memory.deallocate(between, 4 * kMiB);
}

TEST(HostMemory, NoMoreIsKeptAndUsedThanWasUsedAtOnce) {
  if (!keeps()) GTEST_SKIP() << "this build keeps no memory";
  HostMemory memory;
  memory.deallocate(memory.allocate(20 * kMiB), 20 * kMiB);
  void* const larger = memory.allocate(24 * kMiB);
  EXPECT_EQ(memory.kept_bytes(), 0u);
  memory.deallocate(larger, 24 * kMiB);
  void* const small = memory.allocate(10 * kMiB);
  EXPECT_EQ(memory.kept_bytes(), 14 * kMiB);
  void* const other = memory.allocate(16 * kMiB);  // 2 MiB beyond all that there was
  EXPECT_EQ(memory.kept_bytes(), 0u);
  memory.deallocate(small, 10 * kMiB);
  memory.deallocate(other, 16 * kMiB);
  EXPECT_EQ(memory.kept_bytes(), 26 * kMiB);
  memory.release();
  EXPECT_EQ(memory.kept_bytes(), 0u);
}

TEST(HostMemory, SmallerPiecesShareHugePages) {
  if (!keeps()) GTEST_SKIP() << "this build keeps no memory";
  constexpr std::size_t kBytes = 100 * kMiB / 1024;
  HostMemory memory;
  std::vector<Piece> pieces;
  for (int k = 0; k < 100; ++k) {
    pieces.push_back({static_cast<unsigned char*>(memory.allocate(kBytes)), kBytes,
                      static_cast<unsigned char>(k)});
    pieces.back().fill();
    EXPECT_LT(memory.kept_bytes(), 2 * kMiB);
  }
  for (std::size_t k = 1; k < pieces.size(); k += 2) memory.deallocate(pieces[k].data, kBytes);
  EXPECT_GE(memory.kept_bytes(), 50 * kBytes);
  const std::size_t all = 50 * kBytes + memory.kept_bytes();
  memory.release();  // no huge page is free as a whole
  EXPECT_EQ(memory.kept_bytes(), all - 50 * kBytes);
  for (std::size_t k = 0; k < pieces.size(); k += 2) {
    EXPECT_TRUE(pieces[k].is_whole());
    memory.deallocate(pieces[k].data, kBytes);
  }
  EXPECT_EQ(memory.kept_bytes(), all);
  memory.release();
  EXPECT_EQ(memory.kept_bytes(), 0u);
}

TEST(HostMemory, HugePagesServeTheNextContext) {
  if (!keeps()) GTEST_SKIP() << "this build keeps no memory";
  const auto pages_of_one = [](std::size_t bytes) {
    HostMemory memory;
    void* const first = memory.allocate(bytes);
    void* const second = memory.allocate(5000);
    std::memset(first, 1, bytes);
    memory.deallocate(second, 5000);
    memory.deallocate(first, bytes);
    return first;
  };
  void* const first = pages_of_one(6 * kMiB);
  EXPECT_EQ(pages_of_one(6 * kMiB), first);
  HostMemory one, other;  // at the same time
  auto* const begin = static_cast<std::byte*>(one.allocate(6 * kMiB));
  auto* const apart = static_cast<std::byte*>(other.allocate(6 * kMiB));
  EXPECT_TRUE(apart + 6 * kMiB <= begin || begin + 6 * kMiB <= apart);
  one.deallocate(begin, 6 * kMiB);
  other.deallocate(apart, 6 * kMiB);
}

/// A result that another thread frees while a solve runs.
TEST(HostMemory, PiecesAreFreedByAnotherThread) {
  HostMemory memory;
  for (int round = 0; round < 40; ++round) {
    std::array<void*, 4> results;
    for (void*& result : results) result = memory.allocate(4 * kMiB);
    const std::jthread other([&memory, &results] {
      for (void* result : results) memory.deallocate(result, 4 * kMiB);
    });
    for (int solve = 0; solve < 50; ++solve) {
      auto* const piece = static_cast<unsigned char*>(memory.allocate(6 * kMiB));
      ASSERT_NE(piece, nullptr);
      *piece = 1;
      memory.deallocate(piece, 6 * kMiB);
    }
  }
}

TEST(HostMemory, TooMuchIsRefused) {
  HostMemory memory;
  EXPECT_EQ(memory.allocate(std::numeric_limits<std::size_t>::max() - 10), nullptr);
  if (!keeps())
    GTEST_SKIP() << "the address sanitizer ends a program that asks for more than it has";
  EXPECT_EQ(memory.allocate(std::size_t{1} << 60), nullptr);
}

}  // namespace
}  // namespace heddle::detail
