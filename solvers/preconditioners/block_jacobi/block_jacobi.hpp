#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

namespace detail {

template <Scalar T, class Space>
struct BlockJacobiSetup;

}  // namespace detail

/// Y = M⁻¹ X with M the block diagonal of A. A block couples, for example, all unknowns of a node,
/// a cell or a particle. A block that is not positive definite is replaced by its diagonal, with
/// the replacements of `JacobiPreconditioner`, so that M is positive definite for every A.
template <Scalar T, class Ctx>
class BlockJacobiPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  static constexpr Index kMaxBlockSize = 256;
  static constexpr Index kMaxFoundBlockSize = 32;

  /// The blocks have `block_size` rows, and the last one may have fewer. If `block_size` is 0, the
  /// blocks are the runs of consecutive rows that have entries in the same columns, cut after
  /// `kMaxFoundBlockSize` rows. Such runs exist where all unknowns of a node are coupled with all
  /// unknowns of its neighbours. The inverses are formed once, in double. A is in the context's
  /// memory and is not needed afterwards. Throws `InvalidArgument` if A is not square, or the block
  /// size is negative or exceeds `kMaxBlockSize`. Throws `OutOfMemory`.
  BlockJacobiPreconditioner(Ctx& context, DistributedCsrView<T, Space> A, Index block_size = 0,
                            const SpmmOptions& options = {});

  /// The same in single precision for an A in double precision: the inverses are formed from the
  /// entries in double, then rounded.
  template <std::same_as<double> U = double>
  BlockJacobiPreconditioner(Ctx& context, DistributedCsrView<std::type_identity_t<U>, Space> A,
                            Index block_size = 0, const SpmmOptions& options = {});

  Index blocks() const noexcept { return blocks_; }
  Index largest_block() const noexcept { return largest_block_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  BlockJacobiPreconditioner(Ctx& context, detail::BlockJacobiSetup<T, Space> setup,
                            const SpmmOptions& options);

  Index blocks_;
  Index largest_block_;
  CsrMatrix<T, Space> inverse_;  // block diagonal
  SpmmPlan<T, Ctx> plan_;        // of inverse_
};

}  // namespace heddle
