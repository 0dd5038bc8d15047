#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// Features of a matrix that decide which kernel is fastest. All but `values_are_floats` describe
/// the sparsity structure. They count stored entries, whether or not the values are zero.
struct MatrixFeatures {
  Index rows = 0;
  Index cols = 0;
  Index nnz = 0;
  double row_mean = 0;       ///< d = nnz/rows
  double row_deviation = 0;  ///< σ, standard deviation of the row lengths
  Index row_max = 0;         ///< the length of the longest row
  Index empty_rows = 0;      ///< rows without entries
  /// The most consecutive rows with at most 128 entries together, of those that begin at every 16th
  /// row. Where entries are dealt out equally, someone has to end all these rows.
  Index rows_within_128 = 0;
  Index bandwidth = 0;        ///< max |i − j| over stored entries
  double mean_bandwidth = 0;  ///< mean over rows of (last − first column), 0 for empty rows
  double block_fill_2 = 0;    ///< nnz/(4·number of 2×2 aligned blocks touched); likewise 3, 4, 8
  double block_fill_3 = 0;    ///< of 3×3 blocks
  double block_fill_4 = 0;    ///< of 4×4 blocks
  double block_fill_8 = 0;    ///< of 8×8 blocks
  /// R(T): stored entries divided by distinct columns, both summed over tiles of T consecutive
  /// rows. All tiles are used, or a sample of them for large matrices. R(T) is how often a row of B
  /// could be reused from on-chip memory.
  double reuse_8 = 0;
  double reuse_32 = 0;   ///< of tiles of 32 rows
  double reuse_128 = 0;  ///< of tiles of 128 rows
  /// R(T) of taller tiles, from at most 16 and 4 of them. A tile ends after 2^20 entries. It says
  /// how often a row of B could be reused from a cache that all rows share.
  double reuse_2048 = 0;
  double reuse_32768 = 0;  ///< of tiles of 32768 rows
  /// The mean length of runs of entries in neighbouring columns, in the order of storage, from the
  /// tiles of `reuse_32768`. It says how much of a sector a short row of B is of use.
  double column_run = 0;
  /// R of blocks of at most 64 rows that are boxes of a grid (`detail::RowGrid`), found by the most
  /// frequent offsets j − i of stored entries. Without such a grid, of 64 neighbouring rows. From a
  /// sample of blocks. Rows of more than 128 entries have no influence on the grid.
  double reuse_grid = 0;
  /// b = 2 … 8 for which A takes the fewest bytes in whole aligned b×b blocks, as A of a
  /// discretisation with b unknowns per node has. 0 without entries.
  int node_size = 0;
  double node_fill = 0;  ///< nnz/(b²·number of these blocks touched)
  /// Every value is exact in single precision, as those of stencils and graphs are; NaN is not. GPU
  /// kernels then read 4 bytes per value of a matrix in double. False for a pattern without values.
  bool values_are_floats = false;
  bool symmetric_pattern = false;  ///< (j, i) is stored wherever (i, j) is; false if not square

  /// σ/d, the relative spread of the row lengths, which decides about load balancing.
  double variation() const noexcept { return row_mean > 0 ? row_deviation / row_mean : 0; }
};

/// The features of A. Means and ratios of an empty matrix are 0. They take a few parallel passes
/// over the matrix and have the same bits for every number of threads. All features but R(T) are
/// exact. R(T) is computed from at most 4096 tiles: the rows are divided into as many equal
/// stretches, and a tile is taken at a random place in each, because a fixed stride could coincide
/// with the period of a grid. Needs cols/8 bytes of memory per thread. Throws `OutOfMemory`.
template <Scalar T>
MatrixFeatures matrix_features(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
