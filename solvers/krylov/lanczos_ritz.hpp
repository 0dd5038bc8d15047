#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <vector>

namespace heddle::detail {

/// Ritz values of a Krylov decomposition F V = V T + V₊ Sᴴ, largest first, and their residuals.
class LanczosValues {
 public:
  Index order() const noexcept { return order_; }  ///< k

  /// The first l Ritz values, l×1.
  ConstSmallView<double, HostSpace> theta(Index l) const noexcept {
    return {theta_.data(), l, 1, l};
  }

  double value(Index j) const noexcept { return theta_[static_cast<std::size_t>(j)]; }

  /// ‖F x − θ x‖ of Ritz pair j: ‖Sᴴz_j‖₂, over all of S.
  double residual(Index j) const noexcept { return residuals_[static_cast<std::size_t>(j)]; }

  /// The largest eigenvalue of V₊ᴴBFV₊. V₊ is orthogonal to V and to the locked vectors. Therefore,
  /// besides the eigenvalues that locked and Ritz vectors stand for, F has one that is at least as
  /// large.
  double front_value() const noexcept { return front_value_; }

 protected:
  std::vector<double> theta_, residuals_;
  double front_value_ = 0;
  Index order_ = 0;
};

/// Ritz pairs of such a decomposition with small matrices of W, on the host.
template <WideScalar W>
class LanczosRitzOf : public LanczosValues {
 public:
  LanczosRitzOf() = default;

  /// Memory for T of order up to `max_order` and S of up to `block` columns.
  LanczosRitzOf(Index max_order, Index block)
      : LanczosRitzOf(DenseSolverOf<W>(max_order), max_order, block) {}

  /// The same with a solver for T.
  LanczosRitzOf(DenseSolverOf<W> dense, Index max_order, Index block);

  /// Solves T Z = Z diag(θ), with T k×k. `column`: [S; V₊ᴴBFV₊], (k + b)×b. False if T is not
  /// finite.
  bool solve(ConstSmallView<W, HostSpace> T, ConstSmallView<W, HostSpace> column);

  /// The first l Ritz vectors, k×l.
  ConstSmallView<W, HostSpace> Z(Index l) noexcept { return Z_.view(order_, l); }

  /// C k×b with orthogonal columns. Column j is the sum of the Ritz vectors j, j + b, … below
  /// `count`.
  ConstSmallView<W, HostSpace> combination(Index count, Index b) noexcept;

 private:
  OwnedHostContext host_;
  DenseSolverOf<W> dense_;
  SmallMatrix<W, HostSpace> Z_, product_, combination_, front_vectors_;
  std::vector<double> front_theta_;
};

/// Those of real matrices.
using LanczosRitz = LanczosRitzOf<double>;

}  // namespace heddle::detail
