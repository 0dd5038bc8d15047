#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/small/small_dense.hpp>

namespace heddle {

/// The reasons why a dense eigenproblem could not be solved.
enum class DenseFailure {
  none,
  indefinite,  ///< G has no Cholesky factor
  not_finite,  ///< NaN or Inf in the data, or no convergence
};

/// The dense symmetric-definite eigenproblem H Z = G Z diag(θ), ZᵀGZ = I, θ ascending, solved on
/// the host. The Cholesky factor of G reduces it to standard form (Golub & Van Loan, algorithm
/// 8.7.1).
class DenseEigensolver {
 public:
  DenseEigensolver() = default;

  /// Allocates working memory for problems of order up to `max_order`.
  explicit DenseEigensolver(Index max_order);

  /// Solves the generalised problem. H and G are m×m, symmetric, and overwritten. theta is m×1 and
  /// Z is m×m, and neither may share memory with H or G.
  DenseFailure solve(SmallView<double, HostSpace> H, SmallView<double, HostSpace> G,
                     SmallView<double, HostSpace> theta, SmallView<double, HostSpace> Z);

  /// Solves the standard problem H Z = Z diag(θ), ZᵀZ = I. H is unchanged.
  DenseFailure solve(ConstSmallView<double, HostSpace> H, SmallView<double, HostSpace> theta,
                     SmallView<double, HostSpace> Z);

 private:
  detail::OwnedHostContext context_;
  SmallMatrix<double, HostSpace> work_;
  SymmetricEigensolver<HostContext> eigensolver_;
};

}  // namespace heddle
