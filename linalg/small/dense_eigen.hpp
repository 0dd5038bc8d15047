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

/// The dense symmetric- or Hermitian-definite eigenproblem H Z = G Z diag(θ), ZᴴGZ = I, θ
/// ascending, for matrices of W in host memory. The Cholesky factor of G reduces it to standard
/// form (Golub & Van Loan, algorithm 8.7.1).
template <WideScalar W>
class DenseSolverOf {
 public:
  /// Without memory: it can only be assigned and destroyed.
  DenseSolverOf() noexcept;

  /// Allocates working memory for problems of order up to `max_order`.
  explicit DenseSolverOf(Index max_order);

  /// The same beside a context. That of a GPU solves standard problems of order 144 and more
  /// (cuSOLVER, `syevd` and `heevd`), with the same bits in every run. It must outlive the solver.
  DenseSolverOf(HostContext&, Index max_order) : DenseSolverOf(max_order) {}
  DenseSolverOf(CudaContext& context, Index max_order);
  ~DenseSolverOf();
  DenseSolverOf(DenseSolverOf&&) noexcept;
  DenseSolverOf& operator=(DenseSolverOf&&) noexcept;

  /// Solves the generalised problem. H and G are m×m, Hermitian, and overwritten. theta is m×1 and
  /// Z is m×m, and neither may share memory with H or G.
  DenseFailure solve(SmallView<W, HostSpace> H, SmallView<W, HostSpace> G,
                     SmallView<double, HostSpace> theta, SmallView<W, HostSpace> Z);

  /// Solves the standard problem H Z = Z diag(θ), ZᴴZ = I. H is unchanged.
  DenseFailure solve(ConstSmallView<W, HostSpace> H, SmallView<double, HostSpace> theta,
                     SmallView<W, HostSpace> Z);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// That of real matrices.
using DenseEigensolver = DenseSolverOf<double>;

}  // namespace heddle
