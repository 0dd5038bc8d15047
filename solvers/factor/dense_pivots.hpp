#pragma once

#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// The most rows of a dense block within which pivots are chosen.
inline constexpr Index kPivotBlock = 64;

/// P W Pᵀ = L D Lᵀ of a small dense symmetric block W: L with a unit diagonal, D with blocks of one
/// and two rows.
struct DensePivots {
  Index size = 0;
  int from[kPivotBlock];         ///< row k of P W Pᵀ is row from[k] of W
  double diagonal[kPivotBlock];  ///< of D
  double below[kPivotBlock];  ///< below the diagonal of D. 0 unless rows k and k + 1 are one pivot

  Index negative = 0;     ///< eigenvalues of D
  bool replaced = false;  ///< whether a number was put for a pivot that was 0 to rounding

  /// Y ← D⁻¹Y for `columns` numbers per row.
  void divide(double* Y, Index columns) const noexcept;
};

/// Factors W, `size` rows by columns at distance `ld`, of which the lower triangle is read. L takes
/// its place below the diagonal. Pivots are those of Bunch and Kaufman among the rows of W, for
/// entries of W near 1. Source: Bunch & Kaufman, Math. Comp. 31 (1977) 163.
void factor_dense(double* W, Index size, Index ld, DensePivots& pivots) noexcept;

}  // namespace heddle::detail
