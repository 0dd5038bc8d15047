#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>

/// The operands that the kernels of a rounded product share: B in V, and a C that is scaled back.
/// All of them let the next kernel of the stream begin while they still run, and begin so
/// themselves: what other kernels wrote or still read, they touch only after the wait.
namespace heddle::detail {

/// B in V, in device memory, as the product reads it.
template <class V>
struct ShortBlock {
  const V* values = nullptr;            ///< aligned to 16 bytes
  std::int32_t rows = 0;                ///< what lies beyond counts as 0
  std::int32_t row_bytes = 0;           ///< from a row to the next: a multiple of 16
  const std::int32_t* order = nullptr;  ///< the row that column k of A meets; null: row k
};

/// C by rows, in device memory, and the exponents by which A and B were scaled.
struct ScaledBlock {
  float* values = nullptr;
  std::int32_t rows = 0;
  std::int32_t N = 0;  ///< columns
  Index ld = 0;        ///< of a row, in elements
  const std::int32_t* row_exponents = nullptr;
  const std::int32_t* column_exponents = nullptr;  ///< null: all are 0
};

#ifdef __CUDACC__
/// x·2^exponent, rounded once. A normal power of two is a factor; ldexpf takes ten times as many
/// instructions.
__device__ inline float scaled(float x, int exponent) {
  constexpr int kBias = 127;
  if (exponent > -kBias && exponent <= kBias) return x * __int_as_float((exponent + kBias) << 23);
  return ldexpf(x, exponent);
}
#endif

}  // namespace heddle::detail
