#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle::detail {

/// An incomplete Cholesky factor.
template <Scalar T>
struct IncompleteFactor {
  HostCsrMatrix<T> L;  ///< lower triangular, its positive diagonal entry at the end of each row
  double shift = 0;    ///< σ
  int attempts = 0;    ///< number of shifts tried, the last one with success
};

/// IC(0): L Lᵀ ≈ A + σ diag|A|. L has entries only where the lower triangle of A stores entries,
/// and is computed in double. σ is 0 if all pivots are then positive, else the first of 10⁻³,
/// 2·10⁻³, 4·10⁻³, … for which all pivots are positive. If A contains numbers that are not finite,
/// L = diag|A|^(1/2). Diagonal entries are replaced as in `inverse_diagonal`. Throws
/// `InvalidArgument` if A is not square. Sources: Meijerink & van der Vorst, Math. Comp. 31 (1977)
/// 148; Manteuffel, Math. Comp. 34 (1980) 473 (the shift).
template <Scalar T>
IncompleteFactor<T> incomplete_cholesky(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle::detail
