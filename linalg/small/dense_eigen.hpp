#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <memory>

namespace heddle {

/// Why a dense eigenproblem has no answer.
enum class DenseFailure {
  none,
  indefinite,  ///< G has no Cholesky factor
  not_finite,  ///< NaN or Inf in the data, or no convergence
};

/// Dense symmetric-definite eigenproblem H Z = G Z diag(θ), ZᵀGZ = I, θ ascending, on the host.
/// Reduced to standard form by the Cholesky factor of G (Golub & Van Loan, algorithm 8.7.1).
class DenseEigensolver {
 public:
  DenseEigensolver() = default;

  /// Room for problems of up to `max_order`.
  explicit DenseEigensolver(Index max_order);

  /// H and G m×m symmetric, both destroyed; theta m×1 and Z m×m may not share memory with them.
  DenseFailure solve(SmallView<double, HostSpace> H, SmallView<double, HostSpace> G,
                     SmallView<double, HostSpace> theta, SmallView<double, HostSpace> Z);

  /// The standard problem H Z = Z diag(θ), ZᵀZ = I; H is kept.
  DenseFailure solve(ConstSmallView<double, HostSpace> H, SmallView<double, HostSpace> theta,
                     SmallView<double, HostSpace> Z);

 private:
  std::unique_ptr<HostContext> context_;  // its address must stay when this object moves
  SmallMatrix<double, HostSpace> work_;
  SymmetricEigensolver<HostContext> eigensolver_;
};

}  // namespace heddle
