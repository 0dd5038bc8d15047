#pragma once

#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <vector>

namespace heddle::test {

/// Ritz pairs with given values θ, descending, and residual norms ‖F x − θ x‖: T = diag(θ), S with
/// the norms in its first column. `front`: the eigenvalues of V₊ᵀBFV₊.
inline void set_ritz(detail::LanczosRitz& ritz, const std::vector<double>& theta,
                     const std::vector<double>& residuals, Index block, double front) {
  const Index k = std::ssize(theta);
  const Index rows = k + block;
  std::vector<double> T(static_cast<std::size_t>(k * k)), S(static_cast<std::size_t>(rows * block));
  for (Index j = 0; j < k; ++j) {
    T[static_cast<std::size_t>(j * k + j)] = theta[static_cast<std::size_t>(j)];
    S[static_cast<std::size_t>(j)] = residuals[static_cast<std::size_t>(j)];
  }
  for (Index j = 0; j < block; ++j) S[static_cast<std::size_t>(j * rows + k + j)] = front;
  ritz.solve({T.data(), k, k, k}, {S.data(), rows, block, rows});
}

/// The same where the front lies in the unwanted part, at the last θ.
inline void set_ritz(detail::LanczosRitz& ritz, const std::vector<double>& theta,
                     const std::vector<double>& residuals, Index block) {
  set_ritz(ritz, theta, residuals, block, theta.back());
}

}  // namespace heddle::test
