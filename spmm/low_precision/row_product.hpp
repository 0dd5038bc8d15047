#pragma once

#include <heddle/spmm/low_precision/block_product.hpp>

/// Products of a matrix in compressed rows without tensor cores, for matrices whose blocks hold few
/// entries. The kernel overlaps with its neighbours on the stream as those of block_product.hpp do.
namespace heddle::detail {

/// Rows of more entries than this are summed by a thread block each.
inline constexpr Index kLongShortRow = 256;

/// The lanes that share a row are 2^this many: about eight entries per lane for rows of the average
/// length.
int lane_exponent(Index rows, Index nnz) noexcept;

/// What the kernel reads and writes, in device memory.
template <class V>
struct RowProduct {
  Index rows = 0;  ///< of A and C
  Index N = 0;
  int lane_exponent = 0;  ///< 2^this lanes share a row
  const std::int64_t* row_offsets = nullptr;
  const std::int32_t* columns = nullptr;
  const V* values = nullptr;
  const std::int32_t* long_rows = nullptr;
  Index long_count = 0;
  const std::int32_t* row_exponents = nullptr;
  const std::int32_t* column_exponents = nullptr;  ///< null: all are 0
  ShortBlock<V> B;                                 ///< without an order
  float* C = nullptr;
  Index ldc = 0;
};

/// C = A B, scaled back. A row's sum has a fixed order.
template <class V>
void multiply_rows(CudaContext& context, const RowProduct<V>& product);

}  // namespace heddle::detail
