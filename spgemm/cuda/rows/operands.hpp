#pragma once

#include <heddle/spgemm/cuda/rows/block_rows.hpp>

/// The operands and results of the kernels for some rows of C = A B.
namespace heddle::detail {

/// The patterns from which the pattern of C is found.
struct PatternFactors {
  Index rows = 0;
  Index cols = 0;     ///< of C
  Index entries = 0;  ///< of A
  const std::int64_t* row_offsets = nullptr;
  const std::int32_t* columns = nullptr;  ///< of A
  BlockRowsView B;
};

/// Per row of C, in device memory.
struct RowSizes {
  Index* entries = nullptr;
  std::int32_t* blocks = nullptr;  ///< blocks of 32 columns that have an entry
};

/// C in device memory.
template <class T>
struct ProductTarget {
  const std::int64_t* row_offsets = nullptr;
  std::int32_t* columns = nullptr;
  T* values = nullptr;
};

}  // namespace heddle::detail
