#pragma once

#include <heddle/linalg/data/row_range.hpp>
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

  /// Rows of Y and of X in this process's memory.
  Index rows() const noexcept { return row_range_.local; }
  Index cols() const noexcept { return column_range_.local; }

  /// Which rows of the whole Y these are, and which rows of the whole X, that is columns of A. A
  /// solver that numbers rows, to fill a block with random numbers for one, counts from `first`.
  const RowRange& row_range() const noexcept { return row_range_; }
  const RowRange& column_range() const noexcept { return column_range_; }

  /// ‖A‖₁ where known. Otherwise solvers estimate it from products that they make anyway: LOBPCG
  /// from those with its start block, block Lanczos from its Ritz values, block CG from the
  /// Rayleigh quotients of its search directions.
  virtual std::optional<double> one_norm() const { return std::nullopt; }

  /// Columns multiplied so far.
  Index columns_applied() const noexcept { return columns_applied_; }

 protected:
  /// A map whose X and Y are in this process's memory from the first row to the last.
  LinearOperator(Index rows, Index cols) noexcept
      : LinearOperator(RowRange::whole(rows), RowRange::whole(cols)) {}

  /// A map of which this process holds a part.
  LinearOperator(const RowRange& rows, const RowRange& columns) noexcept
      : row_range_(rows), column_range_(columns) {}

  /// Y = A X with shapes already checked and b ≥ 1.
  virtual void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;

  /// Y = α A X + β Y likewise, or false.
  virtual bool accumulate_block(Ctx&, double, ConstBlockView<T, Space>, double,
                                BlockView<T, Space>) {
    return false;
  }

 private:
  void require_shapes(ConstBlockView<T, Space> X, ConstBlockView<T, Space> Y) const;

  RowRange row_range_;
  RowRange column_range_;
  Index columns_applied_ = 0;
};

/// A preconditioner approximates A⁻¹ and must be symmetric positive definite for the solvers here.
template <Scalar T, class Ctx>
using Preconditioner = LinearOperator<T, Ctx>;

}  // namespace heddle
