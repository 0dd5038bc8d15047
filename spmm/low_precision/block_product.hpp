#pragma once

#include <heddle/spmm/low_precision/low_precision_cuda.hpp>

/// All kernels here let the next kernel of the stream begin while they still run, and begin so
/// themselves: what other kernels wrote or still read, they touch only after the wait.
namespace heddle::detail {

/// B in V, as the product reads it.
template <class V>
struct ShortBlock {
  const V* values = nullptr;            ///< aligned to 16 bytes
  Index rows = 0;                       ///< what lies beyond counts as 0
  Index pitch = 0;                      ///< of a row, in elements: whole 16 bytes
  const std::int32_t* order = nullptr;  ///< the row that column k of A meets; null: row k
};

/// What the kernel of a low-precision product reads and writes, in device memory.
template <class V>
struct BlockProduct {
  Index rows = 0;  ///< of A and C
  Index N = 0;
  Index units = 0;
  int team_exponent = 0;  ///< 2^this warps share a unit
  const BlockUnit* schedule = nullptr;
  const SplitRow* split = nullptr;
  const V* values = nullptr;                ///< blocks in `fragment_order`
  const std::int32_t* columns = nullptr;    ///< block columns
  const std::int32_t* row_order = nullptr;  ///< null: the natural order
  const std::int32_t* row_exponents = nullptr;
  const std::int32_t* column_exponents = nullptr;  ///< null: all are 0
  ShortBlock<V> B;
  float* partial = nullptr;     ///< sums of pieces: 16 × `slab_columns` entries per slot and slab
  unsigned* arrived = nullptr;  ///< pieces per split row and slab, 0 before and after the product
  float* C = nullptr;
  Index ldc = 0;
};

/// How B is rounded, in device memory.
template <class V, class T>
struct Rounding {
  const T* B = nullptr;
  Index B_rows = 0;
  Index N = 0;                          ///< columns of B
  Index row_step = 0;                   ///< from an entry of B to the next of its column
  Index column_step = 0;                ///< from an entry of B to the next of its row
  const std::int32_t* order = nullptr;  ///< row k of the result is row order[k] of B
  std::int32_t* exponents = nullptr;    ///< N numbers; null: no scaling
  std::int32_t* largest = nullptr;      ///< room for `kExponentBlocks` numbers per column
  unsigned* arrived = nullptr;          ///< one number per 32 columns, 0 before and after
  V* result = nullptr;
  Index rows = 0;   ///< of the result: whole blocks
  Index pitch = 0;  ///< of the result: whole 16 bytes
};

/// Thread blocks that look for the largest exponents of the same columns.
inline constexpr Index kExponentBlocks = 128;

/// The widest slab of columns that a warp multiplies at a time.
inline constexpr Index kWidestSlab = 64;

/// Columns of the slabs for N columns: 8, 16, 32 or 64.
Index slab_columns(Index N) noexcept;

/// Warps of a product with N columns that the device has room for at a time.
Index warps_at_a_time(const CudaContext& context, Index N) noexcept;

/// exponents[j] = the exponent by which column j of B is scaled.
template <class V, class T>
void find_column_exponents(CudaContext& context, const Rounding<V, T>& rounding);

/// The scaled B, rounded to V and padded with zeros.
template <class V, class T>
void round_block(CudaContext& context, const Rounding<V, T>& rounding);

/// C = A B, scaled back.
template <class V>
void multiply_blocks(CudaContext& context, const BlockProduct<V>& product);

}  // namespace heddle::detail
