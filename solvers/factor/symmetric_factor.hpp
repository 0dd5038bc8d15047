#pragma once

#include <heddle/linalg/data/views.hpp>
#include <memory>
#include <optional>

namespace heddle::detail {

/// The signs of the pivots D of A = L D Lᵀ. By Sylvester's law of inertia, A has as many negative
/// eigenvalues as D, if the factorisation is exact for a matrix near enough to A.
struct PivotSigns {
  Index negative = 0;
  bool proven = true;  ///< false: the library has put other numbers for pivots that were 0
};

/// The factorisation A = L D Lᵀ of a symmetric matrix that need not be definite, by one library, on
/// the host, for any values in one pattern. S: the scalar of the matrix and of L.
template <class S>
class SymmetricFactor {
 public:
  virtual ~SymmetricFactor() = default;

  /// Factors the matrix with these values of the lower triangle. Nothing if a pivot is 0 to
  /// rounding, where D has no sign. Nothing can be solved then. Throws `OutOfMemory`.
  virtual std::optional<PivotSigns> factor(const S* lower_values) = 0;

  /// X ← A⁻¹X for an n×`columns` block X with one column after the other.
  virtual void solve(S* X, Index columns) = 0;

  virtual double entries() const noexcept = 0;  ///< of L, in the last factor
};

template <class S>
using MakeFactor = std::unique_ptr<SymmetricFactor<S>> (*)(const CsrView<S, HostSpace>& lower,
                                                           double max_bytes);

/// L D Lᵀ by Eigen, with pivots of one row in the order that reduces fill, so that entries of L may
/// grow. `lower`: the lower triangle of the matrix with its diagonal,
/// whose values are not read and whose pattern must outlive the factor. `max_bytes` limits the
/// memory of L. Throws `OutOfMemory`.
std::unique_ptr<SymmetricFactor<double>> eigen_factor(const CsrView<double, HostSpace>& lower,
                                                      double max_bytes);

/// The same for the real form of a Hermitian matrix (`real_form`), by complex arithmetic, which
/// takes half of the memory and of the operations.
std::unique_ptr<SymmetricFactor<double>> eigen_hermitian_factor(
    const CsrView<double, HostSpace>& lower, double max_bytes);

/// The same by MUMPS, with pivots of one and two rows that are chosen for stability. Must be called
/// only where it is not missing. Source: Amestoy, Duff, Koster, L'Excellent, SIAM J. Matrix Anal.
/// Appl. 23 (2001) 15.
std::unique_ptr<SymmetricFactor<double>> mumps_factor(const CsrView<double, HostSpace>& lower,
                                                      double max_bytes);

/// Why MUMPS cannot be used. Empty if it can.
const char* mumps_missing();

}  // namespace heddle::detail
