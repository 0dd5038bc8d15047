#pragma once

#include <heddle/solvers/lanczos/lanczos_ritz.hpp>
#include <vector>

namespace heddle::test {

/// Ritz pairs with given values θ, descending, and residual norms ‖F x − θ x‖: T = diag(θ), S with
/// the norms in its first column.
inline void set_ritz(detail::LanczosRitz& ritz, const std::vector<double>& theta,
                     const std::vector<double>& residuals, Index block) {
  const Index k = std::ssize(theta);
  std::vector<double> T(static_cast<std::size_t>(k * k)), S(static_cast<std::size_t>(k * block));
  for (Index j = 0; j < k; ++j) {
    T[static_cast<std::size_t>(j * k + j)] = theta[static_cast<std::size_t>(j)];
    S[static_cast<std::size_t>(j)] = residuals[static_cast<std::size_t>(j)];
  }
  ritz.solve({T.data(), k, k, k}, {S.data(), k, block, k});
}

}  // namespace heddle::test
