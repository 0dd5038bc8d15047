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

/// Makes the factor of a matrix with this lower triangle, which has its diagonal. Its values are
/// not read, and its pattern must outlive the factor. `max_bytes` limits the memory of L.
/// `threads`: the most that the factor uses. Results do not depend on it. Throws `OutOfMemory`.
template <class S>
using MakeFactor = std::unique_ptr<SymmetricFactor<S>> (*)(const CsrView<S, HostSpace>& lower,
                                                           double max_bytes, int threads);

/// L D Lᵀ in dense blocks of columns (supernodes), with pivots of one and two rows that are chosen
/// among up to 64 neighbouring columns. Entries of L may grow where good pivots lie farther apart.
/// Sources: Duff & Reid, ACM Trans. Math. Softw. 9 (1983) 302 (multifrontal factorisation); Schenk
/// & Gärtner, ETNA 23 (2006) 158 (pivots within supernodes).
std::unique_ptr<SymmetricFactor<double>> supernodal_factor(const CsrView<double, HostSpace>& lower,
                                                           double max_bytes, int threads);

/// L D Lᵀ by MUMPS, with pivots that are chosen for stability in all of the matrix, on one thread.
/// Must be called only where it is not missing. Source: Amestoy, Duff, Koster, L'Excellent, SIAM J.
/// Matrix Anal. Appl. 23 (2001) 15.
std::unique_ptr<SymmetricFactor<double>> mumps_factor(const CsrView<double, HostSpace>& lower,
                                                      double max_bytes, int threads);

/// Why MUMPS cannot be used. Empty if it can.
const char* mumps_missing();

}  // namespace heddle::detail
