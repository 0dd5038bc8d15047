#pragma once

#include <heddle/spmm/low_precision/low_precision_cuda.hpp>

namespace heddle::detail {

/// What the kernels of a low-precision product read and write, in device memory.
template <class V>
struct BlockProduct {
  Index rows = 0;  ///< of A and C
  Index cols = 0;  ///< of A
  Index N = 0;
  Index padded_rows = 0;  ///< of the rounded B: whole blocks
  Index pitch = 0;        ///< of the rounded B and of partial sums, in elements: whole tiles
  Index units = 0;
  Index split_rows = 0;
  const BlockUnit* schedule = nullptr;
  const SplitRow* split = nullptr;
  const V* values = nullptr;
  const std::int32_t* columns = nullptr;       ///< block columns
  const std::int32_t* row_order = nullptr;     ///< null: the natural order
  const std::int32_t* column_order = nullptr;  ///< likewise
  const std::int32_t* row_exponents = nullptr;
  std::int32_t* column_exponents = nullptr;
  V* B = nullptr;
  float* partial = nullptr;
  float* C = nullptr;
  Index ldc = 0;
};

/// The widest slab of columns that a warp multiplies at a time.
inline constexpr Index kWidestSlab = 64;

/// Columns of the slabs for N columns: 8, 16, 32 or 64.
Index slab_columns(Index N) noexcept;

/// column_exponents[j] = the exponent by which column j of B is scaled; 0 without scaling.
template <class V, Scalar T>
void find_column_exponents(CudaContext& context, const BlockProduct<V>& product,
                           ConstBlockView<T, DeviceSpace> B, RangeScaling scaling);

/// The scaled B in the order of A's columns, rounded to V and padded with zeros.
template <class V, Scalar T>
void round_block(CudaContext& context, const BlockProduct<V>& product,
                 ConstBlockView<T, DeviceSpace> B);

/// C = A B from the rounded B, scaled back.
template <class V>
void multiply_blocks(CudaContext& context, const BlockProduct<V>& product);

}  // namespace heddle::detail
