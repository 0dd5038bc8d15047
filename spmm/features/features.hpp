#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// What a matrix is like, as kernel selection sees it: its stored entries, zero or not.
struct MatrixFeatures {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  double row_mean = 0;       ///< d = nnz/rows
  double row_deviation = 0;  ///< σ, standard deviation of the row lengths
  Index row_max = 0;
  Index empty_rows = 0;
  Index bandwidth = 0;        ///< max |i − j| over stored entries
  double mean_bandwidth = 0;  ///< mean over rows of (last − first column), 0 for empty rows
  double block_fill_2 = 0;    ///< nnz/(4·number of 2×2 aligned blocks touched); likewise 3, 4, 8
  double block_fill_3 = 0;
  double block_fill_4 = 0;
  double block_fill_8 = 0;
  /// R(T): entries over distinct columns in tiles of T consecutive rows, both summed over all tiles
  /// or, for large matrices, over a sample: how often a row of B could be reused from on-chip
  /// memory.
  double reuse_8 = 0;
  double reuse_32 = 0;
  double reuse_128 = 0;
  bool symmetric_pattern = false;  ///< (j, i) is stored wherever (i, j) is; false if not square

  /// σ/d, the spread that decides for load balancing.
  double variation() const noexcept { return row_mean > 0 ? row_deviation / row_mean : 0; }
};

/// Features of A; means and ratios of an empty matrix are 0. A handful of passes over the
/// structure, in parallel, the same bits for every number of threads. All but R(T) are exact; R(T)
/// is taken from at most 4096 tiles, one at a random place in each of as many equal stretches (a
/// fixed step could keep step with a grid). Memory: cols/8 bytes per thread. Throws `OutOfMemory`.
template <Scalar T>
MatrixFeatures matrix_features(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
