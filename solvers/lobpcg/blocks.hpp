#pragma once

#include <algorithm>
#include <concepts>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/archive.hpp>

namespace heddle::detail {

/// Views of the parts of S, A S or B S: all = [X P W], and XP = [X P].
template <Scalar T, class Space>
struct LobpcgParts {
  BlockView<T, Space> X, P, W, XP, all;
};

/// The long blocks of a LOBPCG solve. S = [X P W], A S and B S are each stored in one block,
/// so that a step reads S once. Y holds the constraints and, behind them, the locked eigenvectors.
/// Where B = I, BS is S and BY is Y.
///
/// After the leading columns of X were locked, S begins behind them, at a column offset, until the
/// next update.
template <Scalar T, class Ctx>
class LobpcgBlocks {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Parts = LobpcgParts<T, Space>;

  /// Columns of the Krylov space in a search for missed pairs, and of each of its steps.
  static constexpr Index kSearchColumns = 16;
  static constexpr Index kSearchWidth = 2;

  /// X, P and W have multiples of this width if the block has: kernels of a GPU load 16 bytes at
  /// once. Those of the host are as fast at any width.
  static constexpr Index kWidthUnit =
      std::same_as<Space, HostSpace> ? 1 : 16 / static_cast<Index>(sizeof(T));

  LobpcgBlocks() = default;

  /// Memory for X, P and W of up to `block` columns each, or X and W of half as many more, of
  /// length n, and for up to `max_locked` columns in Y.
  LobpcgBlocks(Ctx& context, Index n, Index block, Index max_locked, bool pencil)
      : S_(context, n, columns(block)),
        AS_(context, n, columns(block)),
        Y_(context, n, max_locked),
        pencil_(pencil) {
    if (!pencil) return;
    BS_ = MultiVector<T, Space>(context, n, columns(block));
    BY_ = MultiVector<T, Space>(context, n, max_locked);
  }

  /// The columns of S for X of up to `block` columns. Beside X there is room for P and W, and for
  /// the search for missed pairs.
  static constexpr Index columns(Index block) noexcept {
    return block + std::max(2 * block, kSearchColumns);
  }

  /// Sets Y and X to no columns.
  void reset() noexcept {
    locked_ = 0;
    restart(0);
  }

  /// Places X with `x` columns at the start of S, without P and W.
  void restart(Index x) noexcept {
    offset_ = p_ = w_ = 0;
    x_ = x;
  }

  Index x() const noexcept { return x_; }
  Index p() const noexcept { return p_; }
  Index w() const noexcept { return w_; }
  Index locked() const noexcept { return locked_; }  ///< columns of Y, constraints included
  /// Columns of S behind [X P].
  Index columns_left() const noexcept { return S_.cols() - offset_ - x_ - p_; }
  bool pencil() const noexcept { return pencil_; }

  Parts S() { return parts_of(S_); }
  Parts AS() { return parts_of(AS_); }
  Parts BS() { return parts_of(pencil_ ? BS_ : S_); }

  /// The residuals of all columns of X, n×x. They are stored in the last columns of AS, which are
  /// free until A W is computed. If the leading columns of X are locked, R no longer contains their
  /// residuals.
  Block R() { return AS_.columns(AS_.cols() - x_, x_); }

  Block Y(Index first, Index count) { return Y_.columns(first, count); }
  Block BY(Index first, Index count) { return (pencil_ ? BY_ : Y_).columns(first, count); }

  Basis<T, Space> locked_basis() { return {Y(0, locked_), BY(0, locked_)}; }
  Basis<T, Space> basis_of_constraints(Index count) { return {Y(0, count), BY(0, count)}; }
  Basis<T, Space> X_basis() { return {S().X, BS().X}; }
  Basis<T, Space> XP_basis() { return {S().XP, BS().XP}; }

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

  /// Moves the first k columns of X to the end of Y.
  void lock(Ctx& context, Index k) {
    copy(context, S().X.columns(0, k), Y(locked_, k));
    if (pencil_) copy(context, BS().X.columns(0, k), BY(locked_, k));
    locked_ += k;
    offset_ += k;
    x_ -= k;
  }

  /// [X P] ← S C, and likewise A [X P] and B [X P]. C = [Z₁ C_P] m×(x + p).
  void update(Ctx& context, ConstSmallView<Wide<T>, Space> C, Index x, Index p) {
    const PhaseScope phase(context, Phase::update);
    multiply(context, 1.0, S().all, C, 0.0, S_.columns(0, x + p));
    multiply(context, 1.0, AS().all, C, 0.0, AS_.columns(0, x + p));
    if (pencil_) multiply(context, 1.0, BS().all, C, 0.0, BS_.columns(0, x + p));
    offset_ = w_ = 0;
    x_ = x;
    p_ = p;
  }

  /// Saves or loads the numbers of columns.
  void archive(Archive& archive) { archive.values(offset_, x_, p_, locked_); }

  /// Calls visit(block) for each block that an iteration begins with: Y and [X P], and their
  /// products with A and B where those are stored.
  template <class Visit>
  void for_each(const Visit& visit) {
    visit(Y(0, locked_));
    visit(S().XP);
    visit(AS().XP);
    if (!pencil_) return;
    visit(BY(0, locked_));
    visit(BS().XP);
  }

  /// All of AS and BS as scratch memory. A caller that writes there overwrites their contents.
  /// BS_scratch is empty if B = I.
  Block AS_scratch() { return AS_.view(); }
  Block BS_scratch() { return BS_.view(); }

 private:
  Parts parts_of(MultiVector<T, Space>& block) {
    return {block.columns(offset_, x_), block.columns(offset_ + x_, p_),
            block.columns(offset_ + x_ + p_, w_), block.columns(offset_, x_ + p_),
            block.columns(offset_, x_ + p_ + w_)};
  }

  MultiVector<T, Space> S_, AS_, BS_, Y_, BY_;
  bool pencil_ = false;
  Index offset_ = 0;
  Index x_ = 0;
  Index p_ = 0;
  Index w_ = 0;
  Index locked_ = 0;
};

}  // namespace heddle::detail
