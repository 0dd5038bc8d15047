#pragma once

#include <cstdint>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// Whether a block could be made orthonormal.
struct FrontStatus {
  bool indefinite = false;  ///< xᵀBx < 0 was met: B is not positive definite
  bool finite = true;
};

/// Makes a block W, n×b, orthonormal in ⟨x, y⟩ = xᵀBy and orthogonal to an orthonormal basis V.
/// Columns that add nothing to V are replaced by random ones.
template <Scalar T, class Ctx>
class BlockOrthonormalizer {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Room for V of up to `max_basis` columns and b = `block`. `pencil`: whether there is a B ≠ I.
  /// `rows`: those of the vectors. Throws `OutOfMemory`.
  BlockOrthonormalizer(Ctx& context, const RowRange& rows, Index max_basis, Index block,
                       bool pencil);

  /// Begins a new solve. `B` (null: the identity) is kept by pointer. `seed` is that of all random
  /// columns.
  void reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept;

  /// W ← a block of random columns, other ones at each call.
  void fill(Ctx& context, Block W);

  /// B X: X itself where B = I. Valid until the next call of any function.
  ConstBlock times_B(Ctx& context, ConstBlock X);

  /// Orthonormalises W against V in the common case, queued without waiting. `status`,
  /// `CholeskyQrStatus::rows`×2, tells `came_out` later whether it was the common case. If not, W
  /// is lost.
  void queue(Ctx& context, ConstBlock V, Block W, SmallView<double, Space> status);
  bool came_out(ConstSmallView<double, HostSpace> status) noexcept;

  /// The same in all cases. Waits for the context once per round or more.
  FrontStatus orthonormalize(Ctx& context, ConstBlock V, Block W);

  /// n×b of memory that is free between calls. Empty where B = I.
  Block scratch() noexcept { return BW_.view(); }

  const OrthoCounts& counts() const noexcept { return counts_; }

  /// Saves or loads the counts of random blocks and of methods.
  void archive(Archive& archive) { archive.values(random_blocks_, counts_); }

 private:
  double project(Ctx& context, ConstBlock V, Block W);

  RowRange rows_;
  Index block_;
  MultiVector<T, Space> BW_;  // B times a block, empty where B = I
  Orthogonalizer<T, Ctx> orthogonalizer_;
  SmallMatrix<double, Space> coefficients_;
  std::unique_ptr<HostContext> host_;  // its address must stay when this object moves
  SmallMatrix<double, HostSpace> coefficients_host_;
  LinearOperator<T, Ctx>* B_ = nullptr;
  OrthoCounts counts_;
  std::uint64_t seed_ = 0;
  std::uint64_t random_blocks_ = 0;  // drawn so far: each is a stream of the generator
};

}  // namespace heddle::detail
