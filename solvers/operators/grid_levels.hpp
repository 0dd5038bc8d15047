#pragma once

#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// The levels of a multilevel approximation of A⁻¹, for a solver that begins on the coarser ones.
/// With S = diag(`scaling`), level 0 is A_0 = S A S, and level l + 1 is A_{l+1} = P_lᵀ A_l P_l. All
/// blocks are in the context's memory. Products may allocate.
template <Scalar T, class Ctx>
class GridLevels {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  virtual ~GridLevels() = default;

  /// The number of levels, at least 1.
  virtual Index count() const noexcept = 0;

  /// The order of A_l.
  virtual Index order(Index l) const noexcept = 0;

  /// The diagonal of S, n×1.
  virtual ConstBlock scaling() const noexcept = 0;

  /// Y = A_l X.
  virtual void multiply(Ctx& context, Index l, ConstBlock X, Block Y) = 0;

  /// P_lᵀ, for l + 1 < count(). Valid as long as this object.
  virtual CsrView<T, Space> restriction(Index l) const = 0;

  /// Y = P_l X, for l + 1 < count().
  virtual void prolong(Ctx& context, Index l, ConstBlock X, Block Y) = 0;

  /// Memory for a block of b columns on level l, which a cycle on it or a finer level overwrites.
  virtual Block spare(Ctx& context, Index l, Index b) = 0;

  /// Y ≈ A_l⁻¹ X by one cycle over this level and the coarser ones.
  virtual void cycle(Ctx& context, Index l, ConstBlock X, Block Y) = 0;
};

}  // namespace heddle
