#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>

namespace heddle {

/// A preconditioner in single precision for a solve in double precision: y_j = s_j⁻¹ M(s_j x_j)
/// with M in single precision. s_j is the power of two with 1 ≤ ‖s_j x_j‖ < 2, so columns of any
/// norm fit into the range of single precision. A column of zeros stays one.
///
/// An iteration needs no more digits of a search direction. It computes its residuals, projections
/// and norms from products with A in double precision. M moves half of the bytes of the same
/// preconditioner in double precision.
template <class Ctx>
class LoweredPreconditioner final : public Preconditioner<double, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Throws `InvalidArgument` if `single` is null.
  explicit LoweredPreconditioner(std::unique_ptr<Preconditioner<float, Ctx>> single);

 protected:
  void apply_block(Ctx& context, ConstBlockView<double, Space> X,
                   BlockView<double, Space> Y) override;

 private:
  std::unique_ptr<Preconditioner<float, Ctx>> single_;  // M
  MultiVector<float, Space> x_, y_;                     // n×b, b the widest block so far
  SmallMatrix<double, Space> scales_;                   // of `norm_scales`
};

}  // namespace heddle
