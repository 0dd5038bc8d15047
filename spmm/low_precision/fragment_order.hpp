#pragma once

#include <array>
#include <cstddef>

/// The order in which a block of A is stored for tensor cores.
namespace heddle::detail {

/// A block of A has 16 rows of 32 bytes: 16×16 values of 16 bits, or 16×8 of 32 bits.
inline constexpr int kBlockRows = 16;
inline constexpr int kBlockRowBytes = 32;

/// `order[k]` is the place of entry k in the block stored by rows. Each lane of a warp finds its
/// fragments of m16n8k16 or m16n8k8 in 16 consecutive bytes: with g = lane / 4, t = lane mod 4 and
/// s = 4/sizeof(V) values per register, register r has row g + 8 (r mod 2) and, from column
/// s t + 4 s (r div 2) on, s columns. Source: NVIDIA, PTX ISA, mma.m16n8k8 and mma.m16n8k16.
template <class V>
constexpr auto fragment_order() {
  constexpr int kWidth = kBlockRowBytes / static_cast<int>(sizeof(V));
  constexpr int kPacked = 4 / static_cast<int>(sizeof(V));
  std::array<int, kBlockRows * kWidth> order{};
  int k = 0;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r) {
      for (int s = 0; s < kPacked; ++s) {
        const int row = lane / 4 + 8 * (r % 2);
        const int column = kPacked * (lane % 4) + 4 * kPacked * (r / 2) + s;
        order[static_cast<std::size_t>(k++)] = row * kWidth + column;
      }
    }
  }
  return order;
}

}  // namespace heddle::detail
