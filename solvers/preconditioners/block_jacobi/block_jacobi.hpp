#pragma once

#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/preconditioners/setup_cost.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

template <Scalar T, class Space>
struct BlockJacobiSetup;

/// Y = M⁻¹ X with M the diagonal blocks of A: of the rows that belong to a node, a cell, a
/// particle. A block that is not positive definite counts as its diagonal, with the entries that
/// `JacobiPreconditioner` would take, so that M is positive definite for every A.
template <Scalar T, class Ctx>
class BlockJacobiPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  static constexpr Index kMaxBlockSize = 256;
  static constexpr Index kMaxFoundBlockSize = 32;

  /// Blocks of `block_size` rows, the last one of those that are left; 0: runs of rows with equal
  /// columns, as matrices have that couple all unknowns of a node with all of its neighbours, cut
  /// where they exceed `kMaxFoundBlockSize`. The inverses are formed once, in double; A, in the
  /// context's memory, may go. Throws `InvalidArgument` if A is not square or the block size is
  /// negative or exceeds `kMaxBlockSize`, `OutOfMemory`.
  BlockJacobiPreconditioner(Ctx& context, CsrView<T, Space> A, Index block_size = 0,
                            const SpmmOptions& options = {});

  Index blocks() const noexcept { return blocks_; }
  Index largest_block() const noexcept { return largest_block_; }
  const SetupCost& setup_cost() const noexcept { return cost_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  BlockJacobiPreconditioner(Ctx& context, BlockJacobiSetup<T, Space> setup,
                            const SpmmOptions& options);

  SetupCost cost_;
  Index blocks_;
  Index largest_block_;
  CsrMatrix<T, Space> inverse_;  // block diagonal
  SpmmPlan<T, Ctx> plan_;        // of inverse_
};

}  // namespace heddle
