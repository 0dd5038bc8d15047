#pragma once

/// The order in which a block of A is stored for tensor cores.
namespace heddle::detail {

/// A block of A has 16 rows of 32 bytes: 16×16 values of 16 bits, or 16×8 of 32 bits.
inline constexpr int kBlockRows = 16;
inline constexpr int kBlockRowBytes = 32;

/// Where the entry of a block is stored. Each lane of a warp finds its
/// fragments of m16n8k16 or m16n8k8 in 16 consecutive bytes: with g = lane / 4, t = lane mod 4 and
/// s = 4/sizeof(V) values per register, register r has row g + 8 (r mod 2) and, from column
/// s t + 4 s (r div 2) on, s columns. Source: NVIDIA, PTX ISA, mma.m16n8k8 and mma.m16n8k16.
template <class V>
constexpr int fragment_place(int row, int column) {
  constexpr int kPacked = 4 / static_cast<int>(sizeof(V));
  const int lane = 4 * (row % 8) + column / kPacked % 4;
  const int r = row / 8 + 2 * (column / (4 * kPacked));
  return (4 * lane + r) * kPacked + column % kPacked;
}

}  // namespace heddle::detail
