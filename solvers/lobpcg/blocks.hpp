#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/archive.hpp>

namespace heddle::detail {

/// The long blocks of a LOBPCG solve. S = [X P W] lies side by side in one n×3b block, AS = A S and
/// BS = B S beside it, so that a step reads S once; Y holds the constraints and, behind them, the
/// locked eigenvectors. Where B = I, BS is S and BY is Y.
///
/// X starts at a column offset after its leading columns were locked, until the next update.
template <Scalar T, class Ctx>
class LobpcgBlocks {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  LobpcgBlocks() = default;

  /// Blocks of up to `block` columns of length n, up to `max_locked` columns in Y.
  LobpcgBlocks(Ctx& context, Index n, Index block, Index max_locked, bool pencil)
      : S_(context, n, 3 * block),
        AS_(context, n, 3 * block),
        Y_(context, n, max_locked),
        pencil_(pencil) {
    if (!pencil) return;
    BS_ = MultiVector<T, Space>(context, n, 3 * block);
    BY_ = MultiVector<T, Space>(context, n, max_locked);
  }

  /// Nothing locked, X empty.
  void reset() noexcept {
    locked_ = 0;
    restart(0);
  }

  /// X of `x` columns at the start of S, no P, no W.
  void restart(Index x) noexcept {
    offset_ = p_ = w_ = 0;
    x_ = x;
  }

  Index x() const noexcept { return x_; }
  Index p() const noexcept { return p_; }
  Index w() const noexcept { return w_; }
  Index locked() const noexcept { return locked_; }  ///< columns of Y, constraints included
  bool pencil() const noexcept { return pencil_; }

  Block X() { return S_.columns(offset_, x_); }
  Block P() { return S_.columns(offset_ + x_, p_); }
  Block W() { return S_.columns(offset_ + x_ + p_, w_); }
  Block S() { return S_.columns(offset_, x_ + p_ + w_); }
  Block AX() { return AS_.columns(offset_, x_); }
  Block AP() { return AS_.columns(offset_ + x_, p_); }
  Block AW() { return AS_.columns(offset_ + x_ + p_, w_); }
  Block AS() { return AS_.columns(offset_, x_ + p_ + w_); }
  Block BX() { return BS().columns(0, x_); }
  Block BP() { return BS().columns(x_, p_); }
  Block BW() { return BS().columns(x_ + p_, w_); }
  Block BS() { return (pencil_ ? BS_ : S_).columns(offset_, x_ + p_ + w_); }

  /// Room for the residuals of all of X: the end of AS, free until A W is made. Locking the leading
  /// columns of X drops the leading columns of R, too.
  Block R() { return AS_.columns(AS_.cols() - x_, x_); }

  Block Y(Index first, Index count) { return Y_.columns(first, count); }
  Block BY(Index first, Index count) { return (pencil_ ? BY_ : Y_).columns(first, count); }

  Basis<T, Space> locked_basis() { return {Y(0, locked_), BY(0, locked_)}; }
  Basis<T, Space> X_basis() { return {X(), BX()}; }
  Basis<T, Space> XP_basis() {
    return {S_.columns(offset_, x_ + p_), (pencil_ ? BS_ : S_).columns(offset_, x_ + p_)};
  }

  void set_w(Index w) noexcept { w_ = w; }
  void set_p(Index p) noexcept {
    p_ = p;
    w_ = 0;
  }
  void set_x(Index x) noexcept {
    x_ = x;
    p_ = w_ = 0;
  }
  void set_locked(Index locked) noexcept { locked_ = locked; }

  /// Moves the first k columns of X behind Y.
  void lock(Ctx& context, Index k) {
    copy(context, X().columns(0, k), Y(locked_, k));
    if (pencil_) copy(context, BX().columns(0, k), BY(locked_, k));
    locked_ += k;
    offset_ += k;
    x_ -= k;
  }

  /// [X P] ← S C, and A and B times it alike; C = [Z₁ C_P] m×(x + p).
  void update(Ctx& context, ConstSmallView<double, Space> C, Index x, Index p) {
    const PhaseScope phase(context, Phase::update);
    multiply(context, 1.0, S(), C, 0.0, S_.columns(0, x + p));
    multiply(context, 1.0, AS(), C, 0.0, AS_.columns(0, x + p));
    if (pencil_) multiply(context, 1.0, BS(), C, 0.0, BS_.columns(0, x + p));
    offset_ = w_ = 0;
    x_ = x;
    p_ = p;
  }

  /// The sizes of all blocks.
  void archive(Archive& archive) { archive.values(offset_, x_, p_, locked_); }

  /// visit(block) for what an iteration begins with: Y, X and P, with A and B times them.
  template <class Visit>
  void for_each(const Visit& visit) {
    visit(Y(0, locked_));
    visit(S_.columns(offset_, x_ + p_));
    visit(AS_.columns(offset_, x_ + p_));
    if (!pencil_) return;
    visit(BY(0, locked_));
    visit(BS_.columns(offset_, x_ + p_));
  }

  /// The whole of AS and BS as scratch; their contents are lost. BS is empty if B = I.
  Block AS_scratch() { return AS_.view(); }
  Block BS_scratch() { return BS_.view(); }

 private:
  MultiVector<T, Space> S_, AS_, BS_, Y_, BY_;
  bool pencil_ = false;
  Index offset_ = 0;
  Index x_ = 0;
  Index p_ = 0;
  Index w_ = 0;
  Index locked_ = 0;
};

}  // namespace heddle::detail
