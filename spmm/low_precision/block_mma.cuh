#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <heddle/linalg/precision/narrow_float.hpp>

/// What a warp does with a block of A, for all number types: copies into shared memory, loads of
/// matrix fragments, products on the tensor cores. Source of the fragments' layout: NVIDIA, PTX
/// ISA, sections on mma.m16n8k8, mma.m16n8k16 and ldmatrix.
namespace heddle::detail {

/// A block of A has 16 rows of 32 bytes, two pieces of 16 bytes each.
inline constexpr int kBlockRows = 16;
inline constexpr int kRowBytes = 32;
inline constexpr int kPiece = 16;
inline constexpr int kTileColumns = 8;  ///< of B and C in a product

/// Sizes in shared memory for kTiles tiles of columns. An odd number of pieces between rows keeps
/// loads of eight rows free of bank conflicts.
template <class V, int kTiles>
struct BlockSizes {
  static constexpr int kInner = kRowBytes / static_cast<int>(sizeof(V));  ///< columns of a block
  static constexpr int kPitchOfA = kRowBytes + kPiece;
  static constexpr int kBytesOfA = kBlockRows * kPitchOfA;
  static constexpr int kRowOfB = kTiles * kTileColumns * static_cast<int>(sizeof(V));
  static constexpr int kPitchOfB = (kTiles | 1) * kTileColumns * static_cast<int>(sizeof(V));
  static constexpr int kBytesOfB = kInner * kPitchOfB;
  static constexpr int kStage = kBytesOfA + kBytesOfB;
};

/// Begins to copy a block of A and the rows of B that it meets. All lanes of the warp take part.
template <class V, int kTiles>
__device__ inline void copy_block(char* stage, const char* block, const char* rows_of_B,
                                  std::int64_t pitch, int lane) {
  using Sizes = BlockSizes<V, kTiles>;
  __pipeline_memcpy_async(stage + lane / 2 * Sizes::kPitchOfA + lane % 2 * kPiece,
                          block + lane * kPiece, kPiece);
  constexpr int kPieces = Sizes::kRowOfB / kPiece;
  char* to = stage + Sizes::kBytesOfA;
#pragma unroll
  for (int first = 0; first < kPieces * Sizes::kInner; first += 32) {
    const int k = first + lane;
    if (kPieces * Sizes::kInner % 32 != 0 && k >= kPieces * Sizes::kInner) break;
    const int row = k / kPieces;
    const int piece = k % kPieces;
    __pipeline_memcpy_async(to + row * Sizes::kPitchOfB + piece * kPiece,
                            rows_of_B + row * pitch + piece * kPiece, kPiece);
  }
}

/// The fragments of A: four 8×8 matrices of 16-bit elements, or 8×4 of 32 bits, in the order upper
/// left, lower left, upper right, lower right.
__device__ inline void load_fragments_of_A(std::uint32_t (&a)[4], const char* stage, int pitch,
                                           int lane) {
  const auto address = static_cast<std::uint32_t>(
      __cvta_generic_to_shared(stage + lane % 16 * pitch + lane / 16 * kPiece));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}

/// The fragments of one tile of B, 16×8 of 16 bits: stored by rows, wanted by columns.
__device__ inline void load_fragments_of_B(std::uint32_t (&b)[2], const char* tile, int pitch,
                                           int lane, std::uint16_t) {
  const auto address =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(tile + lane % 16 * pitch));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(b[0]), "=r"(b[1])
               : "r"(address)
               : "memory");
}

/// The same for 8×8 of 32 bits.
__device__ inline void load_fragments_of_B(std::uint32_t (&b)[2], const char* tile, int pitch,
                                           int lane, std::uint32_t) {
  const char* column = tile + lane / 4 * static_cast<int>(sizeof(std::uint32_t));
  b[0] = *reinterpret_cast<const std::uint32_t*>(column + lane % 4 * pitch);
  b[1] = *reinterpret_cast<const std::uint32_t*>(column + (lane % 4 + 4) * pitch);
}

#define HEDDLE_MMA(SHAPE, TYPE)                                         \
  asm("mma.sync.aligned." SHAPE ".row.col.f32." TYPE "." TYPE           \
      ".f32 "                                                           \
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                  \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/// C += A B of 16×8 tiles. c[2h + k] is C(lane/4 + 8h, 2(lane mod 4) + k).
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2], Half) {
  HEDDLE_MMA("m16n8k16", "f16");
}
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2], Bfloat16) {
  HEDDLE_MMA("m16n8k16", "bf16");
}
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2], Tf32) {
  HEDDLE_MMA("m16n8k8", "tf32");
}

#undef HEDDLE_MMA

}  // namespace heddle::detail
