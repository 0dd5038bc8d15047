#pragma once

#include <heddle/linalg/csr_matrix.hpp>

namespace heddle {

/// What some Lanczos steps say about a spectrum. Infinite where A holds numbers that are not
/// finite.
struct SpectrumBounds {
  double lower = 0;  ///< smallest Ritz value minus the last residual: a bound, if not proven
  double smallest_ritz = 0;  ///< proves that λ_min is not larger
  double upper = 0;          ///< largest Ritz value plus the last residual
};

/// Bounds on the spectrum of A, symmetric on the host, from Lanczos steps with a random start.
/// Source: Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T>
SpectrumBounds lanczos_bounds(HostContext& context, CsrView<T, HostSpace> A);

}  // namespace heddle
