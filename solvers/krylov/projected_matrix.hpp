#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/iteration/archive.hpp>

namespace heddle::detail {

/// The small matrices of a Krylov decomposition F V = V T + V₊ Sᵀ, on the host: T = VᵀBFV, k×k,
/// and the column of the front V₊, [S; V₊ᵀBFV₊] with S = VᵀBFV₊, (k + b)×b.
///
/// The rows of S before `first_coupled` are zero. In the first step after a restart there are none,
/// because the front is coupled to all of V.
template <WideScalar W>
class ProjectedMatrix {
 public:
  /// Memory for T of order up to `max_order` and fronts of b = `block` columns.
  ProjectedMatrix(Index max_order, Index block);

  /// k ← 0.
  void clear() noexcept { order_ = first_coupled_ = 0; }

  Index order() const noexcept { return order_; }  ///< k
  Index first_coupled() const noexcept { return first_coupled_; }
  Index coupled() const noexcept {
    return order_ - first_coupled_;
  }  ///< number of rows of S that may be nonzero

  /// T, k×k, both triangles.
  ConstSmallView<W, HostSpace> T() noexcept { return all().block(0, 0, order_, order_); }

  /// S, k×b.
  ConstSmallView<W, HostSpace> S() noexcept { return column().block(0, 0, order_, block_); }

  /// [S; V₊ᵀBFV₊], (k + b)×b.
  SmallView<W, HostSpace> column() noexcept {
    return column_.view(max_order_ + block_, block_).block(0, 0, order_ + block_, block_);
  }

  /// Sets the column of the front from its rows that may be nonzero, (coupled() + b)×b. Makes
  /// V₊ᵀBFV₊ symmetric.
  void set_column(ConstSmallView<W, HostSpace> coupled) noexcept;

  /// Appends the front to V: T ← [T S; Sᵀ V₊ᵀBFV₊].
  void append() noexcept;

  /// T ← `whole`, k×k, and S ← 0: F maps the span of V to itself.
  void set_whole(ConstSmallView<W, HostSpace> whole) noexcept;

  /// V ← V Z: T ← ZᵀTZ = diag(θ), S ← ZᵀS. Z k×l, theta l×1.
  void restart(ConstSmallView<W, HostSpace> Z, ConstSmallView<double, HostSpace> theta);

  /// Removes the first j columns of V from T and S. Only after `restart`.
  void drop_first(Index j) noexcept;

  /// Saves or loads k and T, but not the column of the front.
  void archive(Archive& archive);

 private:
  SmallView<W, HostSpace> all() noexcept { return T_.view(max_order_, max_order_); }

  OwnedHostContext host_;
  SmallMatrix<W, HostSpace> T_, column_, rotated_;
  Index max_order_;
  Index block_;
  Index order_ = 0;
  Index first_coupled_ = 0;
};

}  // namespace heddle::detail
