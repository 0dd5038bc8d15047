#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <memory>

namespace heddle {

/// The reasons why a dense eigenproblem could not be solved.
enum class DenseFailure {
  none,
  indefinite,  ///< G has no Cholesky factor
  not_finite,  ///< NaN or Inf in the data, or no convergence
};

class CudaContext;

/// The dense symmetric-definite eigenproblem H Z = G Z diag(θ), ZᵀGZ = I, θ ascending, for matrices
/// in host memory. The Cholesky factor of G reduces it to standard form (Golub & Van Loan,
/// algorithm 8.7.1).
class DenseEigensolver {
 public:
  /// Without memory: it can only be assigned and destroyed.
  DenseEigensolver() noexcept;

  /// Allocates working memory for problems of order up to `max_order`.
  explicit DenseEigensolver(Index max_order);

  /// The same beside a context. That of a GPU solves standard problems of order 144 and more
  /// (cuSOLVER, `syevd`), with the same bits in every run. It must outlive the solver.
  DenseEigensolver(HostContext&, Index max_order) : DenseEigensolver(max_order) {}
  DenseEigensolver(CudaContext& context, Index max_order);
  ~DenseEigensolver();
  DenseEigensolver(DenseEigensolver&&) noexcept;
  DenseEigensolver& operator=(DenseEigensolver&&) noexcept;

  /// Solves the generalised problem. H and G are m×m, symmetric, and overwritten. theta is m×1 and
  /// Z is m×m, and neither may share memory with H or G.
  DenseFailure solve(SmallView<double, HostSpace> H, SmallView<double, HostSpace> G,
                     SmallView<double, HostSpace> theta, SmallView<double, HostSpace> Z);

  /// Solves the standard problem H Z = Z diag(θ), ZᵀZ = I. H is unchanged.
  DenseFailure solve(ConstSmallView<double, HostSpace> H, SmallView<double, HostSpace> theta,
                     SmallView<double, HostSpace> Z);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heddle
