#pragma once

#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/low_precision/narrow_values.cuh>
#include <heddle/spmm/low_precision/rounded_product.hpp>

/// How kernels store the sums of rows of A B in either kind of result. A kernel asks for the
/// exponents first, and stores neighbouring entries of a row at a time.
namespace heddle::detail {

/// x·2^exponent, rounded once. A normal power of two is a factor; ldexpf takes ten times as many
/// instructions.
__device__ inline float scaled(float x, int exponent) {
  constexpr int kBias = 127;
  if (exponent > -kBias && exponent <= kBias) return x * __int_as_float((exponent + kBias) << 23);
  return ldexpf(x, exponent);
}

/// By which a row of A was scaled.
__device__ inline int exponent_of_row(const ScaledBlock& C, std::int32_t row) {
  return __ldg(C.row_exponents + row);
}
template <class V>
__device__ inline int exponent_of_row(const StepBlock<V>&, std::int32_t) {
  return 0;
}

/// By which the columns from `at` on of B were scaled.
template <int kCount>
__device__ inline void exponents_of_columns(const ScaledBlock& C, int at,
                                            int (&exponents)[kCount]) {
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    const bool scaled = C.column_exponents != nullptr && at + k < C.N;
    exponents[k] = scaled ? C.column_exponents[at + k] : 0;
  }
}
template <class V, int kCount>
__device__ inline void exponents_of_columns(const StepBlock<V>&, int, int (&)[kCount]) {}

/// Scales sums back and stores them from column `at` on, in vectors if they are aligned.
template <int kCount>
__device__ inline void store_sums(const ScaledBlock& C, std::int32_t row, int exponent,
                                  const int (&exponents)[kCount], int at,
                                  const float (&sums)[kCount]) {
  constexpr int kVector = kCount < 4 ? kCount : 4;
  float entries[kCount];
#pragma unroll
  for (int k = 0; k < kCount; ++k) entries[k] = scaled(sums[k], -exponent - exponents[k]);
  float* const to = C.values + Index{row} * C.ld + at;
  if (at + kCount <= C.N && reinterpret_cast<std::uintptr_t>(to) % (kVector * sizeof(float)) == 0) {
#pragma unroll
    for (int k = 0; k < kCount; k += kVector) {
      if constexpr (kVector == 4) {
        *reinterpret_cast<float4*>(to + k) =
            make_float4(entries[k], entries[k + 1], entries[k + 2], entries[k + 3]);
      } else if constexpr (kVector == 2) {
        *reinterpret_cast<float2*>(to + k) = make_float2(entries[k], entries[k + 1]);
      } else {
        to[k] = entries[k];
      }
    }
    return;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    if (at + k < C.N) to[k] = entries[k];
  }
}

/// sums += factor·values
template <class V, int kCount>
__device__ inline void add_term(float factor, const V* from, float (&sums)[kCount]) {
  float values[kCount];
  Neighbours<V, kCount>::load(from, values);
#pragma unroll
  for (int k = 0; k < kCount; ++k) sums[k] = fmaf(factor, values[k], sums[k]);
}

/// Stores α sums + β C + γ B + δ X, rounded once.
template <class V, int kCount>
__device__ inline void store_sums(const StepBlock<V>& C, std::int32_t row, int,
                                  const int (&)[kCount], int at, const float (&sums)[kCount]) {
  constexpr int kAtOnce = kCount < kPerPiece<V> ? kCount : kPerPiece<V>;
#pragma unroll
  for (int from = 0; from < kCount; from += kAtOnce) {
    if (at + from >= C.N) return;
    float entries[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) entries[k] = C.alpha * sums[from + k];
    V* const to = C.values + row * C.ld + at + from;
    if (C.beta != 0) add_term(C.beta, to, entries);
    if (C.gamma != 0) add_term(C.gamma, C.B + row * C.ld_of_B + at + from, entries);
    if (C.delta != 0) add_term(C.delta, C.X + row * C.ld_of_X + at + from, entries);
    Neighbours<V, kAtOnce>::store(entries, to);
  }
}

}  // namespace heddle::detail
