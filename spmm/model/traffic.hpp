#pragma once

#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {

/// How a kernel reads A and B.
struct BlockReads {
  double storage_bytes = 0;  ///< A in the kernel's own format
  double stripes = 1;        ///< of columns, for each of which A is read again
  double fetches = 0;        ///< rows of B that reach a multiprocessor, per stripe
  double A_reads = 1;        ///< how often A reaches a multiprocessor per stripe
};

/// Bytes of A in compressed rows with values of `value_bytes`.
double csr_bytes(const MatrixFeatures& A, double value_bytes) noexcept;

/// Bytes from one row of a block to the next: rows begin on 16 bytes, but for a single column.
double row_pitch(const ProductShape& product) noexcept;

/// The number of values that a thread loads at once: 16 bytes where N is a multiple of these.
double load_width(const ProductShape& product) noexcept;

/// The bytes that `KernelWork` counts. Products are repeated, so what the second-level cache can
/// hold of A, B and C stays there. Of a larger working set, B's rows are met again if the rows of A
/// in between fit into the cache (L of the paper, with the cache's size). A row of B that is
/// shorter than a sector costs the sector, unless the entry stored next is its neighbour (C of the
/// paper).
void count_traffic(const ProductShape& product, const BlockReads& reads, KernelWork& work) noexcept;

/// How much longer the longest of `rows` rows is than the mean row, in units of the mean, if the
/// lengths were normally distributed.
double longest_of(const ProductShape& product, double rows) noexcept;

}  // namespace heddle::detail
