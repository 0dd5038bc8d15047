#pragma once

#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {

inline constexpr double kWarp = 32;
inline constexpr double kThreads = 256;  ///< per thread block, of most kernels
inline constexpr double kSectorBytes = 32;
inline constexpr double kLineBytes = 128;

/// How a kernel reads A and B.
struct BlockReads {
  double storage_bytes = 0;  ///< A in the kernel's own format
  double stripes = 1;        ///< of columns, for each of which A is read again
  double fetches = 0;        ///< rows of B that reach a multiprocessor, per stripe
  double A_reads = 1;        ///< how often A reaches a multiprocessor per stripe
  bool gathers = false;      ///< lanes load rows of B from wherever the columns of A point
};

/// Bytes of A in compressed rows with values of `value_bytes`.
double csr_bytes(const MatrixFeatures& A, double value_bytes) noexcept;

/// Bytes from one row of a block to the next: rows begin on 16 bytes, except for a single column.
double row_pitch(const ProductShape& product) noexcept;

/// The number of values that a thread loads at once: 16 bytes where N is a multiple of these.
double load_width(const ProductShape& product) noexcept;

/// The slots of a scheduler that a warp takes to multiply and add one value: as many as words of 32
/// bits, as doubles run at half of the rate. A complex number takes four operations of doubles.
double product_slots(const ProductShape& product) noexcept;

/// The lines of 128 bytes that a warp meets per row of B of `bytes` bytes. Rows that are shorter
/// than a line share it where neighbouring rows of A have neighbouring columns.
double lines_per_row(const ProductShape& product, double bytes) noexcept;

/// How much more the multiprocessor with the most of `thread_blocks` equal thread blocks has to do
/// than the mean one (1/U of the paper).
double imbalance(const ProductShape& product, double thread_blocks) noexcept;

/// The bytes that `KernelWork` counts. Products are repeated, so what the second-level cache can
/// hold of A, B and C stays there. Of a larger working set, B's rows are met again if the rows of A
/// in between fit into the cache (L of the paper, with the cache's size). A row of B that is
/// shorter than a sector costs the sector, unless the entry stored next is its neighbour (C of the
/// paper). A request of the second-level cache for a part of a line takes as long as one for three
/// sectors.
void count_traffic(const ProductShape& product, const BlockReads& reads, KernelWork& work) noexcept;

/// Lengths of rows count as varying by at most this, in units of the mean.
inline constexpr double kMostVariation = 3;

/// How much longer the longest of `rows` rows is than the mean row, in units of the mean, if the
/// lengths were normally distributed with a deviation of `variation` of these units.
double longest_of(double variation, double rows) noexcept;

inline double longest_of(const ProductShape& product, double rows) noexcept {
  return longest_of(product.A.variation(), rows);
}

}  // namespace heddle::detail
