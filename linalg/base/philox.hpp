#pragma once

#include <cstdint>

/// Counter-based random numbers: the k-th number of a stream is a function of (seed, stream, k), so
/// any thread of any backend can compute it on its own. The functions are `constexpr` integer
/// arithmetic, so host and device code share them. Source: Salmon, Moraes, Dror, Shaw, Parallel
/// random numbers: as easy as 1, 2, 3, SC 2011.
namespace heddle {

/// 128 bits: the generator's input (a counter) or its output (random bits).
struct PhiloxBlock {
  std::uint32_t words[4];
};

/// The key of the generator.
struct PhiloxKey {
  std::uint32_t words[2];
};

/// Philox4x32-10: for each key a bijection on the counters, with the constants of the paper.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter.words[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter.words[2];
    counter = {{static_cast<std::uint32_t>(product1 >> 32) ^ counter.words[1] ^ key.words[0],
                static_cast<std::uint32_t>(product1),
                static_cast<std::uint32_t>(product0 >> 32) ^ counter.words[3] ^ key.words[1],
                static_cast<std::uint32_t>(product0)}};
    key.words[0] += 0x9E3779B9;
    key.words[1] += 0xBB67AE85;
  }
  return counter;
}

/// Block `index` of stream `stream` of the generator seeded with `seed`.
constexpr PhiloxBlock random_block(std::uint64_t seed, std::uint64_t stream,
                                   std::uint64_t index) noexcept {
  return philox4x32(
      {{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
        static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}},
      {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
}

/// The 128 random bits of entries (row, 2·pair) and (row, 2·pair + 1) of a tall block, for up to
/// 2²⁰ pairs per row. Words 0 and 1 belong to the first entry, words 2 and 3 to the second.
constexpr PhiloxBlock random_pair(std::uint64_t seed, std::uint64_t stream, std::int64_t row,
                                  std::int64_t pair) noexcept {
  return random_block(seed, stream,
                      (static_cast<std::uint64_t>(row) << 20) + static_cast<std::uint64_t>(pair));
}

/// A number in (0, 1) from 64 random bits. It is an odd multiple of 2⁻⁵³, so it is never 0 or 1.
constexpr double unit_uniform(std::uint32_t low, std::uint32_t high) noexcept {
  const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 12;
  return (static_cast<double>(bits) + 0.5) * 0x1p-52;
}

/// A number in (−1, 1) from 64 random bits. It is an odd multiple of 2⁻⁵², so it is never 0.
constexpr double signed_uniform(std::uint32_t low, std::uint32_t high) noexcept {
  return 2 * unit_uniform(low, high) - 1;
}

/// An integer in 0 … bound − 1 from 64 random bits, for 1 ≤ bound < 2³². The bias is below
/// bound·2⁻⁵².
constexpr std::int64_t uniform_below(std::uint32_t low, std::uint32_t high,
                                     std::int64_t bound) noexcept {
  return static_cast<std::int64_t>(unit_uniform(low, high) * static_cast<double>(bound));
}

}  // namespace heddle
