#pragma once

#include <heddle/linalg/views.hpp>

namespace heddle {

/// What a matrix is like, as kernel selection sees it. One pass over the structure.
struct MatrixFeatures {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  double row_mean = 0;       ///< d = nnz/rows
  double row_deviation = 0;  ///< σ, standard deviation of the row lengths
  Index row_max = 0;
  Index empty_rows = 0;
  Index bandwidth = 0;        ///< max |i − j| over stored entries
  double mean_bandwidth = 0;  ///< mean over rows of (last − first column)
  double block_fill_2 = 0;    ///< nnz/(4·number of 2×2 aligned blocks touched); likewise 3, 4, 8
  double block_fill_3 = 0;
  double block_fill_4 = 0;
  double block_fill_8 = 0;
  /// R(T): nonzeros over distinct columns in tiles of T consecutive rows, averaged over all or, for
  /// large matrices, evenly sampled tiles: how often a row of B could be reused from on-chip
  /// memory.
  double reuse_8 = 0;
  double reuse_32 = 0;
  double reuse_128 = 0;
  bool symmetric_pattern = false;

  /// σ/d, the spread that decides for load balancing.
  double variation() const noexcept { return row_mean > 0 ? row_deviation / row_mean : 0; }
};

/// Features of A. Tiles for R(T) are sampled evenly once there are more than a few thousand.
template <Scalar T>
MatrixFeatures matrix_features(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
