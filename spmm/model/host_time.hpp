#pragma once

#include <heddle/spmm/features/features.hpp>

namespace heddle {

/// The caches of a processor, in bytes.
struct HostCaches {
  double l2 = 1 << 20;   ///< of one core
  double l3 = 32 << 20;  ///< that its cores share
};

/// The caches that the operating system states. One that it does not state has its default.
HostCaches host_caches();

/// Features of a square A whose pattern is symmetric, for products on the host.
struct HostFeatures : MatrixFeatures {
  /// The part of the rows that have an entry in the other half of the columns: i < n/2 ≤ j or
  /// j < n/2 ≤ i. Where two cores compute one half of the rows of C each, both read these rows of
  /// B.
  double rows_across = 0;
};

/// The time in seconds that a product of a square A on the host takes longer because cores read
/// rows of B that others have written: N columns, `scalar_bytes` bytes per value, `rows_across` as
/// in `HostFeatures`. Rows that are shorter than a cache line are taken for scattered.
double rows_across_seconds(Index rows, double rows_across, Index N,
                           std::size_t scalar_bytes) noexcept;

/// The time in seconds of a product C = A B on the host, for comparing orders of the same matrix: N
/// columns, `scalar_bytes` bytes per value. Uses the sizes, `column_run`, `rows_across` and the
/// reuse of the features: a row of B is read again from the second-level cache where it was read
/// within as many rows as fit there, else from the third level or from memory, likewise. The rows
/// across come from another core's cache, as B is what the cores have computed in their own halves
/// of the rows. The sum over two cores, so that it does not depend on the number of threads.
double host_product_seconds(const HostFeatures& A, Index N, std::size_t scalar_bytes,
                            const HostCaches& caches);

}  // namespace heddle
