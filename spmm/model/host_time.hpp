#pragma once

#include <heddle/spmm/features/features.hpp>

namespace heddle {

/// The caches of a processor, in bytes.
struct HostCaches {
  double l2 = 1 << 20;   ///< of one core
  double l3 = 32 << 20;  ///< that its cores share
};

/// The caches that the operating system states. What it does not state has its default.
HostCaches host_caches();

/// The time in seconds of a product C = A B on the host, for comparing orders of the same matrix: N
/// columns, `scalar_bytes` bytes per value. Uses the sizes, `column_run` and the reuse of the
/// features: a row of B is read again from the second-level cache where it was read within as many
/// rows as fit there, else from the third level or from memory, likewise. Of one thread, so that it
/// does not depend on their number.
double host_product_seconds(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                            const HostCaches& caches);

}  // namespace heddle
