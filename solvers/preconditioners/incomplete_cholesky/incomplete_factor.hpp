#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// An incomplete Cholesky factor.
template <Scalar T, class Space = HostSpace>
struct IncompleteFactor {
  CsrMatrix<T, Space> L;  ///< lower triangular, its positive diagonal entry at the end of each row
  double shift = 0;       ///< σ
  int attempts = 0;       ///< number of shifts tried, the last one with success
};

/// IC(0): L Lᴴ ≈ A + σ diag|A|. L has entries only where the lower triangle of A stores entries,
/// and is computed in double. σ is 0 if all pivots are then positive, else the first of 10⁻³,
/// 2·10⁻³, 4·10⁻³, … for which all pivots are positive. If A contains numbers that are not finite,
/// L = diag|A|^(1/2). Diagonal entries are replaced as in `inverse_diagonal`. Throws
/// `InvalidArgument` if A is not square. Sources: Meijerink & van der Vorst, Math. Comp. 31 (1977)
/// 148; Manteuffel, Math. Comp. 34 (1980) 473 (the shift).
template <Scalar T>
IncompleteFactor<T> incomplete_cholesky(HostContext& context, CsrView<T, HostSpace> A);

/// The same on the device: one launch per shift, in which a row waits for the rows it depends on.
/// Sums have a fixed order, another one than on the host, so that L has the same bits every time
/// and is the host's within rounding. The host factors matrices with enough levels that it is
/// faster, see `cuda::most_levels`.
template <Scalar T>
IncompleteFactor<T, DeviceSpace> incomplete_cholesky(CudaContext& context,
                                                     CsrView<T, DeviceSpace> A);

/// The smallest acceptable pivot of the matrix scaled to unit diagonal. Division by a smaller pivot
/// would give entries that are much larger than all others.
inline constexpr double kSmallestPivot = 1e-8;

/// Calls attempt(σ) for the shifts σ in their order until one returns true. Sets the shift and the
/// number of attempts. Returns false if no shift up to the last one serves, because there are
/// numbers that are not finite.
template <Scalar T, class Space, class Attempt>
bool find_shift(IncompleteFactor<T, Space>& factor, const Attempt& attempt) {
  constexpr double kFirstShift = 1e-3;
  constexpr double kLastShift = 1e6;
  for (factor.attempts = 1; !attempt(factor.shift); ++factor.attempts) {
    factor.shift = factor.shift == 0 ? kFirstShift : 2 * factor.shift;
    if (factor.shift > kLastShift) return false;
  }
  return true;
}

}  // namespace heddle::detail
