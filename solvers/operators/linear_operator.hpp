#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/row_range.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/spmm.hpp>
#include <optional>

namespace heddle {

/// A linear map Y = A X that is applied to blocks of vectors. Base class of matrices,
/// preconditioners and operators of user code. A derived class implements `apply_block`, and
/// `one_norm` if ‖A‖₁ is available.
template <Scalar T, class Ctx>
class LinearOperator {
 public:
  using Space = typename Ctx::Space;

  virtual ~LinearOperator() = default;

  /// Y = A X with X cols×b and Y rows×b, which must not overlap. Throws `InvalidArgument` if shapes
  /// do not fit.
  void apply(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y);

  /// C = α A B with the terms of `epilogue` in one pass; `SpmmEpilogue` has the formula. Returns
  /// false, and leaves all blocks as they are, if the operator has no such product. B and C are
  /// shaped as X and Y of `apply`. The columns count as multiplied.
  bool accumulate(Ctx& context, double alpha, ConstBlockView<T, Space> B,
                  const SpmmEpilogue<T, Space>& epilogue, BlockView<T, Space> C);

  /// Rows of Y (`rows`) and of X (`cols`) in the memory of this process.
  Index rows() const noexcept { return row_range_.local; }
  Index cols() const noexcept { return column_range_.local; }

  /// The rows of the global Y (`row_range`) and of the global X, that is the columns of A
  /// (`column_range`), that this process holds. A solver that numbers rows globally, for example to
  /// fill a block with random numbers, counts from `first`.
  const RowRange& row_range() const noexcept { return row_range_; }
  const RowRange& column_range() const noexcept { return column_range_; }

  /// ‖A‖₁, or nothing if it is not available. Solvers then estimate it from products that they
  /// compute anyway: LOBPCG from the products with its start block, block Lanczos from its Ritz
  /// values, and block CG from the Rayleigh quotients of its search directions.
  virtual std::optional<double> one_norm() const { return std::nullopt; }

  /// A in the memory of the context, whose rows processes may share. Null if it is not stored.
  virtual const DistributedCsrView<T, Space>* stored() const noexcept { return nullptr; }

  /// sums(i, 0) = Σ_j |A(i, j)| (sums rows×1). Returns false, and leaves `sums` as it is, if the
  /// entries are not available. With `terms` > 0, the sum of a row of m > terms entries counts
  /// m/terms times, as the rounding error of a sum grows with the number of its terms. Eigensolvers
  /// derive from these sums how exactly rounding allows eigenvalues to be computed. Without them
  /// they use ‖A‖₁. Throws `InvalidArgument` if the shape does not fit.
  bool absolute_row_sums(Ctx& context, BlockView<T, Space> sums, Index terms = 0) const;

  /// The number of columns multiplied so far.
  Index columns_applied() const noexcept { return columns_applied_; }

 protected:
  /// A map whose X and Y lie in the memory of this process with all their rows.
  LinearOperator(Index rows, Index cols) noexcept
      : LinearOperator(RowRange::all(rows), RowRange::all(cols)) {}

  /// A map whose X and Y are distributed over processes. This process holds the given rows.
  LinearOperator(const RowRange& rows, const RowRange& columns) noexcept
      : row_range_(rows), column_range_(columns) {}

  /// Computes Y = A X. `apply` has checked the shapes, and b ≥ 1.
  virtual void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;

  /// Computes what `accumulate` describes, or returns false without touching a block. Shapes of B
  /// and C as for `apply_block`.
  virtual bool accumulate_block(Ctx& /*context*/, double /*alpha*/, ConstBlockView<T, Space> /*B*/,
                                const SpmmEpilogue<T, Space>& /*epilogue*/,
                                BlockView<T, Space> /*C*/) {
    return false;
  }

  /// Computes the sums of `absolute_row_sums`, or returns false without touching them.
  virtual bool absolute_row_sums_into(Ctx&, BlockView<T, Space>, Index) const { return false; }

 private:
  void require_shapes(ConstBlockView<T, Space> X, ConstBlockView<T, Space> Y) const;

  RowRange row_range_;
  RowRange column_range_;
  Index columns_applied_ = 0;
};

}  // namespace heddle
