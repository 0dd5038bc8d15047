#pragma once

#include <cstdint>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/low_precision/fragment_order.hpp>

/// The work of a warp on a block of A and the rows of B that it meets: loads into registers and
/// products on the tensor cores. With g = lane / 4 and t = lane mod 4. Source of the fragments'
/// layout: NVIDIA, PTX ISA, sections on mma.m16n8k8, mma.m16n8k16 and movmatrix.
namespace heddle::detail {

inline constexpr int kTileColumns = 8;  ///< of B and C in a product

/// How a slab of kTiles·8 columns of B and C is spread over a warp. Tiles are taken in groups, so
/// that a lane's entries of a group are neighbours in memory: tile j of a group does not have the
/// columns 8j … 8j + 7, but those that the lanes have in their registers j. C's columns follow.
template <class V, int kTiles>
struct SlabLayout {
  static constexpr int kInner = kBlockRowBytes / static_cast<int>(sizeof(V));  ///< rows of B
  static constexpr int kPacked = 4 / static_cast<int>(sizeof(V));              ///< per register
  static constexpr int kGroup = kTiles < 4 ? kTiles : 4;                       ///< tiles
  static constexpr int kGroups = kTiles / kGroup;
  static constexpr int kGroupColumns = kGroup * kTileColumns;

  /// The lane's row of B in the half h of the block's rows.
  static __device__ int row_of_B(int lane, int h) {
    return (kPacked == 2 ? lane / 4 : lane % 4) + h * kInner / 2;
  }
  /// The first of the kGroup·kPacked columns of B that the lane loads from this row.
  static __device__ int column_of_B(int lane) {
    return kGroup * (kPacked == 2 ? 2 * (lane % 4) : lane / 4);
  }
  /// The first of the 2·kGroup columns of C that the lane holds sums of.
  static __device__ int column_of_C(int lane) { return 2 * kGroup * (lane % 4); }
  /// Which of them is entry e of tile j.
  static __device__ constexpr int offset_in_C(int j, int e) {
    return kPacked == 2 ? 2 * j + e : kGroup * e + j;
  }
};

/// Registers in one load of 4, 8 or 16 bytes, which `from` must be aligned to; 0 if not `wanted`.
/// Not a load of constants (.nc), which may move before the wait for the kernel that writes them.
template <int kCount>
__device__ inline void load_if(std::uint32_t (&to)[kCount], const void* from, bool wanted) {
  for (std::uint32_t& value : to) value = 0;
  if constexpr (kCount == 4) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\n@p ld.global.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
        : "+r"(to[0]), "+r"(to[1]), "+r"(to[2]), "+r"(to[3])
        : "l"(from), "r"(static_cast<int>(wanted))
        : "memory");
  } else if constexpr (kCount == 2) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %3, 0;\n@p ld.global.v2.u32 {%0, %1}, [%2];\n}"
                 : "+r"(to[0]), "+r"(to[1])
                 : "l"(from), "r"(static_cast<int>(wanted))
                 : "memory");
  } else {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p ld.global.u32 %0, [%1];\n}"
                 : "+r"(to[0])
                 : "l"(from), "r"(static_cast<int>(wanted))
                 : "memory");
  }
}

/// A lane's 16 bytes of a block of A, past the first-level cache: other warps don't need them.
__device__ inline void load_block(std::uint32_t (&a)[4], const void* from) {
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "l"(from)
               : "memory");
}

/// A lane's part of a tile's 8 rows of B as a fragment of a product. 16 bits: two neighbours of
/// a row are loaded, two of a column are wanted.
__device__ inline std::uint32_t fragment_of_B(std::uint32_t loaded, std::uint16_t) {
  std::uint32_t transposed;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(loaded));
  return transposed;
}
__device__ inline std::uint32_t fragment_of_B(std::uint32_t loaded, std::uint32_t) {
  return loaded;
}

#define HEDDLE_MMA(SHAPE, TYPE)                                         \
  asm("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE           \
      ".f32 "                                                           \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                  \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(upper), "r"(lower))

/// C += A B of 16×8 tiles. c[2h + e] is C(g + 8h, 2t + e).
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t upper,
                                    std::uint32_t lower, Half) {
  HEDDLE_MMA("m16n8k16", "f16");
}
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t upper,
                                    std::uint32_t lower, Bfloat16) {
  HEDDLE_MMA("m16n8k16", "bf16");
}
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t upper,
                                    std::uint32_t lower, Tf32) {
  HEDDLE_MMA("m16n8k8", "tf32");
}

#undef HEDDLE_MMA

}  // namespace heddle::detail
