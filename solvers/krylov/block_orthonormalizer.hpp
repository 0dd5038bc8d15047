#pragma once

#include <cstdint>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// The outcome of making a block orthonormal.
struct FrontStatus {
  bool indefinite = false;  ///< whether an xᵀBx < 0 occurred, so that B is not positive definite
  bool finite = true;
};

/// Makes a block W, n×b, orthonormal in ⟨x, y⟩ = xᵀBy and orthogonal to an orthonormal basis V.
/// Columns that lie in the span of V to rounding are replaced by random ones.
template <Scalar T, class Ctx>
class BlockOrthonormalizer {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Memory for V of up to `max_basis` columns and b = `block`. `pencil`: whether B ≠ I. `rows`:
  /// the rows of the vectors. Throws `OutOfMemory`.
  BlockOrthonormalizer(Ctx& context, const RowRange& rows, Index max_basis, Index block,
                       bool pencil);

  /// Begins a new solve. `B` (null: the identity) is kept by pointer. `seed` determines all random
  /// columns.
  void reset(LinearOperator<T, Ctx>* B, std::uint64_t seed) noexcept;

  /// W ← a block of random columns, from a new random stream in each call.
  void fill(Ctx& context, Block W);

  /// B X: X itself where B = I. Valid until the next call of any function.
  ConstBlock times_B(Ctx& context, ConstBlock X);

  /// W ← W − X C, and Y ← W made orthonormal and orthogonal to V, which lies directly before Y in
  /// one block. W ← Y, too. Queued without waiting. It succeeds if W − X C is not nearly dependent.
  /// From `status`, `CholeskyQrStatus::rows`×2, `came_out` determines later whether it succeeded.
  /// If not, the contents of W and Y are invalid.
  void queue(Ctx& context, ConstBlock X, ConstSmallView<Wide<T>, Space> C, ConstBlock V, Block W,
             Block Y, SmallView<double, Space> status);
  bool came_out(ConstSmallView<double, HostSpace> status) noexcept;

  /// Orthonormalises any W against V. Waits for the context at least once per round.
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
  SmallMatrix<Wide<T>, Space> coefficients_;
  OwnedHostContext host_;
  SmallMatrix<Wide<T>, HostSpace> coefficients_host_;
  LinearOperator<T, Ctx>* B_ = nullptr;
  OrthoCounts counts_;
  std::uint64_t seed_ = 0;
  // Number drawn so far. Each has its own stream of the generator.
  std::uint64_t random_blocks_ = 0;
};

}  // namespace heddle::detail
