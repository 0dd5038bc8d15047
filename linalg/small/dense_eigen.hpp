#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <memory>

namespace heddle {

/// The reasons why a dense eigenproblem could not be solved.
enum class DenseFailure {
  none,
  indefinite,  ///< G has no Cholesky factor
  not_finite,  ///< NaN or Inf in the data, or no convergence
};

class CudaContext;

namespace detail {

/// The standard problem of large orders on a device, for matrices in host memory.
class DeviceEigensolver {
 public:
  /// From this order on, the device takes less time, transfers included (one H200 beside its host).
  static constexpr Index kLeastOrder = 144;

  virtual ~DeviceEigensolver() = default;

  /// H Z = Z diag(θ), ZᵀZ = I, θ ascending. H is finite. Waits for the device. Returns false if the
  /// iteration did not converge.
  virtual bool compute(ConstSmallView<double, HostSpace> H, SmallView<double, HostSpace> theta,
                       SmallView<double, HostSpace> Z) = 0;
};

}  // namespace detail

/// The dense symmetric-definite eigenproblem H Z = G Z diag(θ), ZᵀGZ = I, θ ascending, for matrices
/// in host memory. The Cholesky factor of G reduces it to standard form (Golub & Van Loan,
/// algorithm 8.7.1).
class DenseEigensolver {
 public:
  DenseEigensolver() = default;

  /// Allocates working memory for problems of order up to `max_order`.
  explicit DenseEigensolver(Index max_order);

  /// The same beside a context. That of a GPU solves standard problems of order 144 and more
  /// (cuSOLVER, `syevd`), with the same bits in every run. It must outlive the solver.
  DenseEigensolver(HostContext&, Index max_order) : DenseEigensolver(max_order) {}
  DenseEigensolver(CudaContext& context, Index max_order);

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
  std::unique_ptr<detail::DeviceEigensolver> device_;  // null: the host solves all orders
};

}  // namespace heddle
