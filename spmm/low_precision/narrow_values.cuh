#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <type_traits>

/// Conversions between neighbouring numbers of a short type and floats. They round as
/// `NarrowFloat::round` does.
namespace heddle::detail {

/// Numbers of V in 16 bytes.
template <class V>
inline constexpr int kPerPiece = 16 / static_cast<int>(sizeof(V));

__device__ inline float widened(Half x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ inline float widened(Bfloat16 x) {
  return __uint_as_float(static_cast<std::uint32_t>(x.bits) << 16);
}
__device__ inline float widened(Tf32 x) { return __uint_as_float(x.bits); }

__device__ inline std::uint32_t rounded_pair(float low, float high, Half) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
__device__ inline std::uint32_t rounded_pair(float low, float high, Bfloat16) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

__device__ inline std::uint32_t rounded_tf32(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  if ((bits & 0x7F800000u) == 0x7F800000u) return bits;  // infinite or NaN
  return (bits + 0xFFFu + (bits >> 13 & 1u)) & ~0x1FFFu;
}

/// Two neighbours in a word, the first in its lower half.
__device__ inline float2 widened_pair(std::uint32_t word, Half) {
  return __half22float2(*reinterpret_cast<const __half2*>(&word));
}
__device__ inline float2 widened_pair(std::uint32_t word, Bfloat16) {
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xFFFF0000u)};
}

/// The numbers in some words.
template <class V, int kCount>
__device__ inline void unpack(const std::uint32_t* words, float (&values)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; k += 4 / static_cast<int>(sizeof(V))) {
    if constexpr (sizeof(V) == 4) {
      values[k] = __uint_as_float(words[k]);
    } else {
      const float2 pair = widened_pair(words[k / 2], V{});
      values[k] = pair.x;
      values[k + 1] = pair.y;
    }
  }
}

template <class V>
__device__ inline void unpack(const uint4& piece, float (&values)[kPerPiece<V>]) {
  const std::uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
  unpack<V>(words, values);
}

/// Numbers that one instruction moves: at most 16 bytes, aligned to their size.
template <class V, int kCount>
struct Neighbours {
  static constexpr int kBytes = kCount * static_cast<int>(sizeof(V));
  using Words = std::conditional_t<
      kBytes == 16, uint4,
      std::conditional_t<kBytes == 8, uint2,
                         std::conditional_t<kBytes == 4, std::uint32_t, std::uint16_t>>>;
  static_assert(sizeof(Words) == kBytes);

  static __device__ void load(const V* from, float (&values)[kCount]) {
    const Words loaded = *reinterpret_cast<const Words*>(from);
    if constexpr (kBytes == 2) {
      values[0] = widened(V{loaded});
    } else {
      unpack<V>(reinterpret_cast<const std::uint32_t*>(&loaded), values);
    }
  }

  static __device__ void store(const float (&values)[kCount], V* to) {
    alignas(16) std::uint32_t words[kBytes < 4 ? 1 : kBytes / 4];
    if constexpr (sizeof(V) == 4) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) words[k] = rounded_tf32(values[k]);
    } else if constexpr (kCount == 1) {
      words[0] = rounded_pair(values[0], 0, V{});
    } else {
#pragma unroll
      for (int k = 0; k < kCount; k += 2) {
        words[k / 2] = rounded_pair(values[k], values[k + 1], V{});
      }
    }
    *reinterpret_cast<Words*>(to) = *reinterpret_cast<const Words*>(words);
  }
};

}  // namespace heddle::detail
