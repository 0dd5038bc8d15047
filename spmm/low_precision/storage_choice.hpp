#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>

/// Which storage of A multiplies fastest on a GPU.
namespace heddle::detail {

/// The quantities on which the times of the products depend.
struct StorageCounts {
  Index cols = 0;  ///< of A
  Index nnz = 0;
  Index blocks = 0;          ///< dense, at multiples of their width
  Index groups = 0;          ///< of columns, in column-compacted panels
  Index gathered_lines = 0;  ///< of B, by slices of rows
  bool stages = false;       ///< whether a piece of B has room in shared memory
};

/// Predicted seconds of a product with 8 columns, per storage.
struct StorageTimes {
  double blocks = 0;
  double panels = 0;
  double slices = 0;         ///< rows, B read through the caches
  double staged_slices = 0;  ///< rows, B in shared memory; infinite where it has no room
};

/// A fixed time, and a time per element: a block with the rows of B that it meets, a line of B, a
/// row of B that all thread blocks copy, an entry. Constants are measured for half precision on an
/// NVIDIA H200. Times per element follow the bytes of a value and the number of multiprocessors.
StorageTimes storage_times(const StorageCounts& counts, std::size_t value_bytes,
                           int multiprocessors) noexcept;

}  // namespace heddle::detail
