#pragma once

#include <heddle/solvers/operators/preconditioner.hpp>
#include <memory>
#include <utility>

namespace heddle {

/// An operator M⁻¹ ≈ A⁻¹, such as a stored matrix or a factor of A, as a preconditioner.
template <Scalar T, class Ctx>
class OperatorPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// The operator is not null.
  explicit OperatorPreconditioner(std::shared_ptr<LinearOperator<T, Ctx>> op)
      : Preconditioner<T, Ctx>(op->row_range(), op->column_range()), operator_(std::move(op)) {}

  std::optional<double> one_norm() const override { return operator_->one_norm(); }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    operator_->apply(context, X, Y);
  }

 private:
  std::shared_ptr<LinearOperator<T, Ctx>> operator_;
};

}  // namespace heddle
