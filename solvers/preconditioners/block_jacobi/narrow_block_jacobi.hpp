#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/narrow_columns.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>

namespace heddle {

namespace detail {

template <Scalar T, class Space>
struct BlockJacobiSetup;

}  // namespace detail

/// `BlockJacobiPreconditioner` with the inverses of the blocks in V (`Half`, `Bfloat16`, `Tf32`),
/// scaled to a diagonal of ones, for blocks in single precision: Y = D E D X, E rounded D⁻¹M⁻¹D⁻¹
/// with D² the diagonal of M⁻¹. E is symmetric. Its eigenvalues move by at most u times the largest
/// row sum of |E|, so that E may become indefinite where a block has a condition number of 1/u.
template <class V, class Ctx>
class NarrowBlockJacobi final : public Preconditioner<float, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// The inverses are formed in double. Arguments and errors as for `BlockJacobiPreconditioner`.
  NarrowBlockJacobi(Ctx& context, DistributedCsrView<double, Space> A, Index block_size = 0);

 protected:
  void apply_block(Ctx& context, ConstBlockView<float, Space> X,
                   BlockView<float, Space> Y) override;

 private:
  /// E and D.
  struct Scaled {
    CsrMatrix<double, Space> E;
    Buffer<double, Space> D;
  };

  NarrowBlockJacobi(Ctx& context, detail::BlockJacobiSetup<double, Space> setup);
  NarrowBlockJacobi(Ctx& context, const RowRange& rows, Scaled scaled);
  static Scaled scaled(Ctx& context, CsrMatrix<double, Space> inverse);

  LowPrecisionPlan<V, Ctx> plan_;  // of E
  detail::NarrowColumns<V, Ctx> columns_;
  NarrowBlock<V, Space> x_, y_;  // n×b, b the widest block so far
  Index width_ = 0;
};

}  // namespace heddle
