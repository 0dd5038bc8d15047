#pragma once

#include <heddle/linalg/data/views.hpp>
#include <optional>

namespace heddle {

/// A linear map y = A x applied to blocks: matrices, preconditioners, a user's own code.
/// Derive from it and implement `apply_block` (and `one_norm` where it is known).
template <Scalar T, class Ctx>
class LinearOperator {
 public:
  using Space = typename Ctx::Space;

  virtual ~LinearOperator() = default;

  /// Y = A X; X cols×b, Y rows×b, not overlapping. Throws `InvalidArgument` if shapes do not fit.
  void apply(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  /// Y = α A X + β Y in one pass, where the operator can do that; else false, with nothing done.
  /// Shapes as for `apply`; the columns count as multiplied.
  bool accumulate(Ctx& context, double alpha, ConstBlockView<T, Space> X, double beta,
                  BlockView<T, Space> Y);

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return cols_; }

  /// ‖A‖₁ where known. Otherwise solvers estimate it from products that they make anyway: LOBPCG
  /// from those with its start block, block Lanczos from its Ritz values, block CG from the
  /// Rayleigh quotients of its search directions.
  virtual std::optional<double> one_norm() const { return std::nullopt; }

  /// Columns multiplied so far.
  Index columns_applied() const noexcept { return columns_applied_; }

 protected:
  LinearOperator(Index rows, Index cols) noexcept : rows_(rows), cols_(cols) {}

  /// Y = A X with shapes already checked and b ≥ 1.
  virtual void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;

  /// Y = α A X + β Y likewise, or false.
  virtual bool accumulate_block(Ctx&, double, ConstBlockView<T, Space>, double,
                                BlockView<T, Space>) {
    return false;
  }

 private:
  void require_shapes(ConstBlockView<T, Space> X, ConstBlockView<T, Space> Y) const;

  Index rows_;
  Index cols_;
  Index columns_applied_ = 0;
};

/// A preconditioner approximates A⁻¹ and must be symmetric positive definite for the solvers here.
template <Scalar T, class Ctx>
using Preconditioner = LinearOperator<T, Ctx>;

}  // namespace heddle
