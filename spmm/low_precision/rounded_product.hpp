#pragma once

#include <cuda_runtime_api.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>

/// The operands that the kernels of a rounded product share: B in V, and a C in single precision
/// or in V. Most let the next kernel of the stream begin while they still run, and begin so
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

/// C = α A B + β C + γ B + δ X by rows, in V, in device memory. N and the distances of rows, in
/// elements, are whole 16 bytes. A term whose coefficient is 0 is not read.
template <class V>
struct StepBlock {
  V* values = nullptr;
  std::int32_t rows = 0;
  std::int32_t N = 0;  ///< columns
  Index ld = 0;
  const V* B = nullptr;
  Index ld_of_B = 0;
  const V* X = nullptr;
  Index ld_of_X = 0;
  float alpha = 1;
  float beta = 0;
  float gamma = 0;
  float delta = 0;
};

/// A in the format of a kernel, in device memory.
template <class V>
class ShortMatrix {
 public:
  virtual ~ShortMatrix() = default;

  /// The row of B that column k of A meets; null: row k.
  virtual const std::int32_t* column_order() const noexcept { return nullptr; }

  /// Bytes of A that a product reads.
  virtual double bytes() const noexcept = 0;

  /// The product, queued on the context's stream. Allocates for more columns than before.
  virtual void multiply(CudaContext& context, const ShortBlock<V>& B, const ScaledBlock& C) = 0;
  virtual void multiply(CudaContext& context, const ShortBlock<V>& B, const StepBlock<V>& C) = 0;
};

/// Makes a buffer of at least `size` counters of this one. They begin at 0.
inline void grow_counters(CudaContext& context, Buffer<unsigned, DeviceSpace>& counters,
                          Index size) {
  if (counters.size() >= static_cast<std::size_t>(size)) return;
  counters = {context, static_cast<std::size_t>(size)};
  check(cudaMemsetAsync(counters.data(), 0, counters.size() * sizeof(unsigned), context.stream()));
}

}  // namespace heddle::detail

/// Expands F(V, C) once per number type and type of the result.
#define HEDDLE_FOR_EACH_SHORT_PRODUCT(F)               \
  F(::heddle::Half, ScaledBlock)                       \
  F(::heddle::Half, StepBlock<::heddle::Half>)         \
  F(::heddle::Bfloat16, ScaledBlock)                   \
  F(::heddle::Bfloat16, StepBlock<::heddle::Bfloat16>) \
  F(::heddle::Tf32, ScaledBlock)                       \
  F(::heddle::Tf32, StepBlock<::heddle::Tf32>)
