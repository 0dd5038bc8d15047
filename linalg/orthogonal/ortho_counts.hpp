#pragma once

#include <heddle/linalg/context/context.hpp>

namespace heddle {

struct OrthoReport;

/// How often a solve orthonormalised a block, by the method that the block needed, from the
/// cheapest to the most robust (`OrthoMethod`).
struct OrthoCounts {
  Index cholqr = 0;   ///< one Cholesky QR
  Index cholqr2 = 0;  ///< Cholesky QR twice
  Index shifted = 0;  ///< shifted Cholesky QR first, then twice without a shift
  Index svqb = 0;     ///< eigenvectors of the Gram matrix
  Index dropped = 0;  ///< columns lost to rank deficiency

  /// Counts one block of `columns` columns.
  void add(const OrthoReport& report, Index columns) noexcept;
  OrthoCounts& operator+=(const OrthoCounts& other) noexcept;
};

}  // namespace heddle
