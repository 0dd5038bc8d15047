#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

/// A stored sparse matrix as an operator, with its multiplication plan. The constructor determines
/// whether the operator or the caller owns the matrix.
template <Scalar T, class Ctx>
class SparseOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Takes ownership of A, plans its products and computes ‖A‖₁ once.
  SparseOperator(Ctx& context, DistributedCsr<T, Space> A, const SpmmOptions& options = {});

  /// The same for a matrix that belongs to the caller. It is not copied and must outlive the
  /// operator unchanged.
  SparseOperator(Ctx& context, DistributedCsrView<T, Space> A, const SpmmOptions& options = {});

  std::optional<double> one_norm() const override { return one_norm_; }
  const DistributedCsrView<T, Space>* stored() const noexcept override { return &matrix_; }
  /// The matrix. Throws `InvalidArgument` if processes share its rows.
  CsrView<T, Space> matrix() const { return matrix_.whole(); }
  /// The matrix, whose rows processes may share.
  DistributedCsrView<T, Space> distributed_matrix() const noexcept { return matrix_; }
  /// The plan of its products.
  const SpmmPlan<T, Ctx>& plan() const noexcept { return plan_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;
  bool accumulate_block(Ctx& context, double alpha, ConstBlockView<T, Space> B,
                        const SpmmEpilogue<T, Space>& epilogue, BlockView<T, Space> C) override;
  bool absolute_row_sums_into(Ctx& context, BlockView<T, Space> sums, Index terms) const override;

 private:
  DistributedCsr<T, Space> owned_;  // empty where the caller owns the matrix
  DistributedCsrView<T, Space> matrix_;
  SpmmPlan<T, Ctx> plan_;
  double one_norm_;
};

}  // namespace heddle
