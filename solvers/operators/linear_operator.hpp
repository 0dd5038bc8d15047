#pragma once

#include <heddle/linalg/data/row_range.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/epilogue.hpp>
#include <optional>
#include <span>
#include <vector>

namespace heddle {

/// A level of an operator that consists of matrices of several sizes.
struct OperatorLevel {
  Index rows = 0;
  Index nnz = 0;         ///< stored entries of its matrix
  Index aggregates = 0;  ///< groups of rows that the next coarser level represents. The coarsest: 0
  double seconds = 0;    ///< to make the level and what leads to it
};

/// Stored entries of all levels per entry of the finest one. 1 without entries.
double operator_complexity(std::span<const OperatorLevel> levels) noexcept;

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

  /// The same for an X whose column norms are known (b×1, in the memory of X), so that an operator
  /// that needs them does not compute them again.
  void apply(Ctx& context, ConstBlockView<T, Space> X, ConstSmallView<double, Space> norms,
             BlockView<T, Space> Y);

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

  /// The rows of A that this process holds, in the memory of the context, if they are stored. Null
  /// if they are not.
  virtual const CsrView<T, Space>* stored() const noexcept { return nullptr; }

  /// sums(i, 0) = Σ_j |A(i, j)| (sums rows×1). Returns false, and leaves `sums` as it is, if the
  /// entries are not available. With `terms` > 0, the sum of a row of m > terms entries counts
  /// m/terms times, as the rounding error of a sum grows with the number of its terms. Eigensolvers
  /// derive from these sums how exactly rounding allows eigenvalues to be computed. Without them
  /// they use ‖A‖₁. Throws `InvalidArgument` if the shape does not fit.
  bool absolute_row_sums(Ctx& context, BlockView<T, Space> sums, Index terms = 0) const;

  /// Whether products are computed in a lower precision than T.
  virtual bool is_lowered() const noexcept { return false; }

  /// Computes products in T from now on, if the operator can. May allocate. Solvers call it where
  /// lower precision prevents progress.
  virtual void raise(Ctx&) {}

  /// The strength of a preconditioner that can spend more work on a better approximation of A⁻¹,
  /// such as the degree of a polynomial. 0: there is no choice.
  virtual Index strength() const noexcept { return 0; }

  /// Sets the strength of all further products. 0: that of a new operator. An operator without a
  /// choice ignores the call.
  virtual void set_strength(Index) {}

  /// The strength that suits a solve for eigenvectors near the columns of X (rows×b, b ≥ 1) if this
  /// operator preconditions A, whether or not it can be set. energies[j] = x_jᵀ A x_j. Waits for
  /// the device.
  virtual Index suitable_strength(Ctx&, ConstBlockView<T, Space> /*X*/,
                                  std::span<const double> /*energies*/) {
    return strength();
  }

  /// The number of steps after which CG with one column is to call `adapt` of its preconditioner
  /// the next time. 0: never.
  virtual Index steps_to_adapt() const noexcept { return 0; }

  /// Tells a preconditioner how many further steps CG with one column is expected to take with it.
  /// It may become another one then, and returns true: recurrences must begin again. May allocate.
  virtual bool adapt(Ctx&, double /*steps*/) { return false; }

  /// The levels, the finest first. Empty if the operator has none.
  virtual std::vector<OperatorLevel> hierarchy() const { return {}; }

  /// The number of columns multiplied so far.
  Index columns_applied() const noexcept { return columns_applied_; }

 protected:
  /// A map whose X and Y lie in the memory of this process with all their rows.
  LinearOperator(Index rows, Index cols) noexcept
      : LinearOperator(RowRange::whole(rows), RowRange::whole(cols)) {}

  /// A map whose X and Y are distributed over processes. This process holds the given rows.
  LinearOperator(const RowRange& rows, const RowRange& columns) noexcept
      : row_range_(rows), column_range_(columns) {}

  /// Computes Y = A X. `apply` has checked the shapes, and b ≥ 1.
  virtual void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;

  /// Computes the same from X and its column norms.
  virtual void apply_measured_block(Ctx& context, ConstBlockView<T, Space> X,
                                    ConstSmallView<double, Space> /*norms*/,
                                    BlockView<T, Space> Y) {
    apply_block(context, X, Y);
  }

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

/// A preconditioner approximates A⁻¹ and must be symmetric positive definite for the solvers here.
template <Scalar T, class Ctx>
using Preconditioner = LinearOperator<T, Ctx>;

}  // namespace heddle
