#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <vector>

namespace heddle::detail {

/// Ritz pairs of a Krylov decomposition F V = V T + V₊ Sᵀ, largest first, on the host.
class LanczosRitz {
 public:
  LanczosRitz() = default;

  /// Memory for T of order up to `max_order` and S of up to `block` columns.
  LanczosRitz(Index max_order, Index block)
      : LanczosRitz(DenseEigensolver(max_order), max_order, block) {}

  /// The same with a solver for T.
  LanczosRitz(DenseEigensolver dense, Index max_order, Index block);

  /// Solves T Z = Z diag(θ), with T k×k. `column`: [S; V₊ᵀBFV₊], (k + b)×b. False if T is not
  /// finite.
  bool solve(ConstSmallView<double, HostSpace> T, ConstSmallView<double, HostSpace> column);

  Index order() const noexcept { return order_; }  ///< k

  /// The first l Ritz values, l×1, and vectors, k×l.
  ConstSmallView<double, HostSpace> theta(Index l) const noexcept {
    return {theta_.data(), l, 1, l};
  }
  ConstSmallView<double, HostSpace> Z(Index l) noexcept { return Z_.view(order_, l); }

  double value(Index j) const noexcept { return theta_[static_cast<std::size_t>(j)]; }

  /// ‖F x − θ x‖ of Ritz pair j: ‖Sᵀz_j‖₂, over all of S.
  double residual(Index j) const noexcept { return residuals_[static_cast<std::size_t>(j)]; }

  /// The largest eigenvalue of V₊ᵀBFV₊. V₊ is orthogonal to V and to the locked vectors. Therefore,
  /// besides the eigenvalues that locked and Ritz vectors stand for, F has one that is at least as
  /// large.
  double front_value() const noexcept { return front_value_; }

  /// C k×b with orthogonal columns. Column j is the sum of the Ritz vectors j, j + b, … below
  /// `count`.
  ConstSmallView<double, HostSpace> combination(Index count, Index b) noexcept;

 private:
  OwnedHostContext host_;
  DenseEigensolver dense_;
  SmallMatrix<double, HostSpace> Z_, product_, combination_, front_vectors_;
  std::vector<double> theta_, residuals_, front_theta_;
  double front_value_ = 0;
  Index order_ = 0;
};

}  // namespace heddle::detail
