#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <heddle/linalg/precision/narrow_float.hpp>

/// Conversions between 16 bytes of a short number type and floats. They round as
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

template <class V>
__device__ inline void unpack(const uint4& piece, float (&values)[kPerPiece<V>]) {
  const std::uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (sizeof(V) == 4) {
      values[w] = __uint_as_float(words[w]);
    } else {
      const float2 pair = widened_pair(words[w], V{});
      values[2 * w] = pair.x;
      values[2 * w + 1] = pair.y;
    }
  }
}

template <class V>
__device__ inline uint4 pack(const float (&values)[kPerPiece<V>]) {
  std::uint32_t words[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (sizeof(V) == 4) {
      words[w] = rounded_tf32(values[w]);
    } else {
      words[w] = rounded_pair(values[2 * w], values[2 * w + 1], V{});
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

}  // namespace heddle::detail
