#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/lobpcg/ritz_values.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <span>
#include <vector>

namespace heddle::detail {

/// The projected problem of LOBPCG: Ritz pairs of A over the span of S = [X P W], and new conjugate
/// directions, all in the coefficients of S.
///
/// [X P] is B-orthonormal. W need only be nearly so: SᵀBW is measured in addition to SᵀAW, and a
/// last round of Gram–Schmidt with Cholesky QR changes the small matrices instead of W. It gives N,
/// m×w, such that the columns of S T are B-orthonormal for T = [I N] with I of order m − w.
///
/// H = TᵀSᵀAS T is m×m. Its [X P] part is known from the last step: XᵀAX and PᵀAP from the
/// coefficients, and XᵀAP = 0. Only the columns of W need a pass over blocks of length n.
/// Sources: Hetmaniuk & Lehoucq, JCP 218 (2006) 324, section 3; Duersch et al., SISC 40 (2018)
/// C655, section 4.2; `cholesky_qr_coefficients` for N.
template <Scalar T, class Ctx>
class RayleighRitz {
 public:
  using Space = typename Ctx::Space;

  RayleighRitz() = default;

  /// Room for m ≤ max_order columns in S and blocks X of up to max_block.
  RayleighRitz(Ctx& context, Index max_order, Index max_block);

  /// Queues the unknown columns of SᵀBS and SᵀAS into `packet`, which are SᵀBW and SᵀAW unless H
  /// was forgotten. S = [X P W] n×m, AS = A S, BS = B S.
  void project(Ctx& context, ConstBlockView<T, Space> S, ConstBlockView<T, Space> BS,
               ConstBlockView<T, Space> AS, Packet<Ctx>& packet);

  /// ‖SᵀBS − I‖_F over the columns that `project` queued. Call it between the fetch of the packet
  /// and `solve`. Up to `kNearlyOrthonormal`, `solve` is as accurate as with an orthonormal S.
  double deviation() const;

  /// The eigenvalues of SᵀBS then lie between 0.8 and 1.2, so that its Cholesky factor is as
  /// accurate as SᵀBS itself.
  static constexpr double kNearlyOrthonormal = 0.1;

  /// Solves H Z = Z Θ for `block` = min(wanted, m) Ritz pairs at the `which` end. Call it after the
  /// packet was fetched, for an S of m ≥ 1 columns. X is the first x_cols columns of S. The
  /// coefficients of the new P are the P and W rows of the Ritz vectors `skip` … x_cols − 1,
  /// orthonormalised against all of Z₁. Therefore P needs no orthonormalisation of blocks of length
  /// n. False if H is not finite, or if SᵀBS is singular up to rounding. The Ritz pairs are
  /// then unchanged.
  ///
  /// `errors`: bounds of the errors of the Ritz values of X, from its residuals, or none. Ritz
  /// values that are equal as far as rounding in H and a tenth of these bounds tell have no Ritz
  /// vectors of their own. Of their common eigenspace, those vectors are then taken that are
  /// nearest to the columns of X in the same places. The new XᵀAX is not diagonal there, its
  /// diagonal is theta().
  bool solve(Ctx& context, Index x_cols, Index wanted, Index skip, Which which,
             std::span<const double> errors = {});

  /// Computes the part of the next H that `solve` determined. Call it after the new X and P were
  /// queued, so that a device does not wait for it.
  void carry_over();

  Index block() const noexcept { return block_; }            ///< columns of the new X
  Index directions() const noexcept { return directions_; }  ///< columns of the new P

  /// T [Z₁ C_P], m×(block + directions): X ← S T Z₁, P ← S T C_P.
  ConstSmallView<Wide<T>, Space> coefficients() const noexcept { return coefficients_; }

  /// Ritz values of the new X, best first (ascending for smallest, descending for largest), in any
  /// order among those that `solve` takes for equal.
  std::span<const double> theta() const noexcept {
    return {theta_.data(), static_cast<std::size_t>(block_)};
  }

  /// The change of each of these Ritz values in the last step that had a W. Infinite for a value
  /// without a predecessor.
  std::span<const double> theta_change() const noexcept {
    return {theta_change_.data(), static_cast<std::size_t>(block_)};
  }

  /// All Ritz values of the last step, in ascending order. The next step overwrites them.
  std::span<const double> all_values() noexcept {
    return {ritz_values_.view(order_, 1).data, static_cast<std::size_t>(order_)};
  }

  /// `theta` and `theta_change`.
  RitzValues values() const noexcept { return {theta(), theta_change()}; }

  /// Forgets the first k Ritz pairs, which were locked.
  void drop_leading(Index k);

  /// Forgets H, because X and P were changed otherwise than by the last coefficients.
  void forget() noexcept { known_ = 0; }

  /// Saves or loads what `project` and `solve` need from the step before.
  void archive(Archive& archive) {
    archive.values(order_, known_, block_, directions_);
    archive.list(theta_);
    archive.list(theta_change_);
    const Dense H = known_H(known_);
    for (Index j = 0; j < known_; ++j) {
      for (Index i = 0; i < known_; ++i) archive.values(H(i, j));
    }
  }

  /// Forgets H and the Ritz values.
  void reset() noexcept { known_ = block_ = directions_ = 0; }

 private:
  using Dense = SmallView<Wide<T>, HostSpace>;

  void assemble();
  bool orthonormalize();
  Dense known_H(Index columns) {
    return known_H_.view(max_order_, max_order_).block(0, 0, columns, columns);
  }
  void select(Dense Z, Index wanted, Index x_cols, Which which, std::span<const double> errors);
  void set_values(Index block_before, bool grown);
  void make_directions(Index x_cols, Index skip);
  void send_coefficients(Ctx& context);

  OwnedHostContext host_;
  DenseSolverOf<Wide<T>> dense_;
  SmallMatrix<Wide<T>, HostSpace> H_, Z_, N_, known_H_, C_, HP_;
  SmallMatrix<double, HostSpace> ritz_values_;
  SmallMatrix<Wide<T>, Space> C_device_;
  typename Packet<Ctx>::template PartOf<Wide<T>> gram_{};       // SᵀBW
  typename Packet<Ctx>::template PartOf<Wide<T>> projected_{};  // SᵀAW
  ConstSmallView<Wide<T>, Space> coefficients_{};
  std::vector<double> theta_, theta_change_;
  Index max_order_ = 0;
  Index order_ = 0;
  Index known_ = 0;  // leading columns of S, of which known_H_ is the part of H
  Index block_ = 0;
  Index directions_ = 0;
};

}  // namespace heddle::detail
