#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>

/// Predicted times of products in short number types on a GPU.
namespace heddle::detail {

/// The quantities on which the times depend.
struct ProductCounts {
  Index cols = 0;  ///< of A
  Index nnz = 0;
  double mean_row = 0;       ///< entries of a row
  int alike_rows = 1;        ///< neighbouring rows with entries in the same columns
  Index blocks = 0;          ///< dense, at multiples of their width; 0: not counted
  Index groups = 0;          ///< of columns, in column-compacted panels
  Index gathered_lines = 0;  ///< of B, that 8 neighbouring rows meet, each with 16 bytes
  bool stages = false;       ///< whether a piece of B has room in shared memory
  bool tensor_cores = true;  ///< whether the device has those for these types
  Index columns = 8;         ///< of B
  std::size_t value_bytes = 2;
  int multiprocessors = 132;
};

/// Seconds of a product by each kernel, infinite if it does not take A. A fixed time, and a time
/// per element: a block with the rows of B that it meets, a line of A or B, a row of B that all
/// thread blocks copy, an entry. Constants are measured for half precision on an NVIDIA H200.
/// Times per element follow the bytes of a value, the columns of B and the number of
/// multiprocessors.
double rows_seconds(const ProductCounts& counts) noexcept;
double blocks_seconds(const ProductCounts& counts) noexcept;
double panels_seconds(const ProductCounts& counts) noexcept;
double slices_seconds(const ProductCounts& counts) noexcept;
double staged_slices_seconds(const ProductCounts& counts) noexcept;

}  // namespace heddle::detail
