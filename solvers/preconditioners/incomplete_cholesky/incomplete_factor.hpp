#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>

namespace heddle {

/// L of an incomplete Cholesky factorisation.
template <Scalar T>
struct IncompleteFactor {
  HostCsrMatrix<T> L;  ///< lower triangular; the diagonal, positive, ends each row
  double shift = 0;    ///< it factors A + shift·diag(A)
  int attempts = 0;    ///< shifts tried, the last one with success
};

/// IC(0): L Lᵀ ≈ A + σ diag|A| with L zero where the lower triangle of A stores nothing, in double.
/// σ is 0 if all pivots are then positive, else the first of 10⁻³, 2·10⁻³, 4·10⁻³, … for which
/// they are; where A holds numbers that are not finite, L = diag|A|^(1/2). Diagonal entries as
/// `inverse_diagonal` takes them. Throws `InvalidArgument` if A is not square. Sources: Meijerink &
/// van der Vorst, Math. Comp. 31 (1977) 148; Manteuffel, Math. Comp. 34 (1980) 473 (the shift).
template <Scalar T>
IncompleteFactor<T> incomplete_cholesky(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
