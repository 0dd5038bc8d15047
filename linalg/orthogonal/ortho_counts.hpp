#pragma once

#include <heddle/linalg/context/context.hpp>

namespace heddle {

struct OrthoReport;

/// How many blocks a solve orthonormalised with each method, from the cheapest to the most robust
/// (`OrthoMethod`).
struct OrthoCounts {
  Index cholqr = 0;   ///< one Cholesky QR
  Index cholqr2 = 0;  ///< Cholesky QR twice
  Index shifted = 0;  ///< shifted Cholesky QR first, then twice without a shift
  Index svqb = 0;     ///< eigenvectors of the Gram matrix
  Index dropped = 0;  ///< columns lost to rank deficiency

  /// Adds the report on one block of `columns` columns to the counts.
  void add(const OrthoReport& report, Index columns) noexcept;
  /// Adds the counts of another solve.
  OrthoCounts& operator+=(const OrthoCounts& other) noexcept;
};

}  // namespace heddle
