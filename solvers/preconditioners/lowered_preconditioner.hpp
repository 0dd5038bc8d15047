#pragma once

#include <functional>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/preconditioners/between_precisions.hpp>
#include <heddle/solvers/preconditioners/kept_product.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace heddle {

/// A preconditioner in lower precision for a solve in double precision: y_j = s_j⁻¹ M(s_j x_j)
/// with M for blocks in single precision, and products in single precision or a shorter type. s_j
/// is the power of two with 1 ≤ ‖s_j x_j‖ < 2, so columns of any norm fit into the range of single
/// precision. A column of zeros stays one.
///
/// An iteration needs no more digits of a search direction. It computes its residuals, projections
/// and norms from products with A in double precision. M moves half of the bytes of the same
/// preconditioner in double precision.
template <class Ctx>
class LoweredPreconditioner final : public Preconditioner<double, Ctx>, public KeptProduct<Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Makes the preconditioner in double precision.
  using MakeFull = std::function<std::unique_ptr<Preconditioner<double, Ctx>>(Ctx&)>;

  /// Makes the preconditioner in single precision.
  using MakeSingle = std::function<std::unique_ptr<Preconditioner<float, Ctx>>(Ctx&)>;

  /// `raise` calls `make_single`, if there is one, and then `make_full`. If that is empty, M stays
  /// as it is. Throws `InvalidArgument` if `lowered` is null.
  explicit LoweredPreconditioner(std::unique_ptr<Preconditioner<float, Ctx>> lowered,
                                 MakeFull make_full = {}, MakeSingle make_single = {});

  bool is_lowered() const noexcept override { return single_ != nullptr; }

  /// Replaces M by the preconditioner in the next higher precision, for all further products:
  /// single precision if its products are in a shorter type, then double. The memory of M is
  /// released first. Does the same at the next product after `set_strength` with more strength than
  /// a shorter type allows. Throws `OutOfMemory`.
  void raise(Ctx& context) override;

  /// How often M was replaced.
  Index raised() const noexcept { return raised_; }

  std::vector<OperatorLevel> hierarchy() const override;
  Index strength() const noexcept override;
  void set_strength(Index strength) override;
  Index suitable_strength(Ctx& context, ConstBlockView<double, Space> X,
                          std::span<const double> energies) override;
  std::optional<ScaledView<float, Space>> apply_and_keep(
      Ctx& context, ConstBlockView<double, Space> X, ConstSmallView<double, Space> norms) override;

 protected:
  void apply_block(Ctx& context, ConstBlockView<double, Space> X,
                   BlockView<double, Space> Y) override;
  void apply_measured_block(Ctx& context, ConstBlockView<double, Space> X,
                            ConstSmallView<double, Space> norms,
                            BlockView<double, Space> Y) override;

 private:
  void replace(Ctx& context);
  void take(std::unique_ptr<Preconditioner<float, Ctx>> lowered);
  SmallView<double, Space> scales(Ctx& context, Index b);
  BlockView<float, Space> rounded(Ctx& context, ConstBlockView<double, Space> X);
  ScaledView<float, Space> product(Ctx& context, ConstBlockView<double, Space> X);
  Preconditioner<double, Ctx>& full(Ctx& context);

  MakeFull make_full_;
  MakeSingle make_single_;  // empty once it was called
  Index raised_ = 0;
  bool outgrown_ = false;                               // whether M has less strength than was set
  Index strength_ = 0;                                  // as set last
  std::unique_ptr<Preconditioner<float, Ctx>> single_;  // M, null once it is in double precision
  BetweenPrecisions<float, Ctx>* between_ =
      nullptr;  // M, where it reads blocks in double precision itself
  std::unique_ptr<Preconditioner<double, Ctx>> full_;  // null until `full` has made it
  MultiVector<float, Space> x_, y_;                    // n×b, b the widest block so far
  SmallMatrix<double, Space> scales_;                  // of `norm_scales`, for b columns
  std::vector<double> energies_;                       // s_j² x_jᵀAx_j
};

/// The reason why a preconditioner of A cannot be in single precision: a diagonal entry of A that
/// is not zero has a size outside of 2⁻⁶⁴ … 2⁶⁴. Elements of M are of the size of inverse diagonal
/// entries, and may be larger by orders of magnitude in an ill conditioned A. Empty if there is no
/// such entry. A is in the context's memory. Throws `InvalidArgument` if A is not square.
template <class Ctx>
std::string refuse_single_precision(Ctx& context, CsrView<double, typename Ctx::Space> A);

}  // namespace heddle
