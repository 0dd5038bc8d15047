#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>

namespace heddle::detail {

/// The D-orthogonal projection onto the vectors with YᵀBx = 0, for constraints Y n×c and a diagonal
/// D > 0:
///
///     x − D⁻¹BY (YᵀB D⁻¹ BY)⁻¹ YᵀB x
///
/// It changes an entry of x the less, the larger D is in its row. The projection x − Y YᵀBx would
/// change all entries alike. In the rows of a stiff part, this costs more energy than the
/// eigenvectors have that the search for missed pairs looks for.
template <Scalar T, class Ctx>
class ScaledConstraints {
 public:
  using Space = typename Ctx::Space;

  ScaledConstraints() = default;

  /// Memory for up to `constraints` columns of Y and projections of up to `width` columns.
  ScaledConstraints(Ctx& context, Index constraints, Index width);

  /// The numbers in doubles that this memory takes.
  static double size(double constraints, double width) {
    return 3 * constraints * constraints + 2 * constraints * width;
  }

  /// Takes Y, which must outlive the projections, and D⁻¹ (n×1). `scratch`: n×w, w ≥ 1. If YᵀB D⁻¹
  /// BY is singular to rounding, the projection is the identity.
  void prepare(Ctx& context, const Basis<T, Space>& Y, ConstBlockView<T, Space> inverse_D,
               BlockView<T, Space> scratch);

  /// Projects the columns of X. `scratch` has the shape of X. Nothing happens without constraints.
  void project(Ctx& context, BlockView<T, Space> X, BlockView<T, Space> scratch);

 private:
  Basis<T, Space> Y_{};
  ConstBlockView<T, Space> inverse_D_{};
  SmallMatrix<Wide<T>, Space> gram_;          // YᵀB D⁻¹ BY, and then its inverse   c×c
  SmallMatrix<Wide<T>, Space> factor_;        // N with N Nᵀ the inverse            c×c
  SmallMatrix<double, Space> status_;         // of the factorisation
  SmallMatrix<Wide<T>, Space> products_;      // YᵀBX                               c×w
  SmallMatrix<Wide<T>, Space> coefficients_;  // −(YᵀB D⁻¹ BY)⁻¹ YᵀBX               c×w
};

}  // namespace heddle::detail
