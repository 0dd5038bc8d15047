#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
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
class RoundedProducts {
 public:
  using Space = typename Ctx::Space;
  using Single = Preconditioner<float, Ctx>;

  /// Throws `InvalidArgument` if M is null.
  explicit RoundedProducts(std::unique_ptr<Single> M) { take(std::move(M)); }

  Single& M() const noexcept { return *M_; }

  /// Releases the memory of M, and takes another one of the same order, which `make` returns.
  template <class Make>
  void replace(const Make& make) {
    M_.reset();
    take(make());
  }

  /// The products with X (n×b), valid until the next ones. May allocate.
  ScaledView<float, Space> product(Ctx& context, ConstBlockView<double, Space> X);

  /// The same where the column norms (b×1, in the memory of X) are known.
  ScaledView<float, Space> product(Ctx& context, ConstBlockView<double, Space> X,
                                   ConstSmallView<double, Space> norms);

  /// `VariableDegree::suitable_degree` of M, for X and energies of any size.
  Index suitable_degree(Ctx& context, ConstBlockView<double, Space> X,
                        std::span<const double> energies);

 private:
  void take(std::unique_ptr<Single> M);
  SmallView<double, Space> scales(Ctx& context, Index b);
  BlockView<float, Space> rounded(Ctx& context, ConstBlockView<double, Space> X);
  ScaledView<float, Space> scaled_product(Ctx& context, ConstBlockView<double, Space> X);

  std::unique_ptr<Single> M_;
  MultiVector<float, Space> x_, y_;    // n×b, b the widest block so far
  SmallMatrix<double, Space> scales_;  // of `norm_scales`, for b columns
  std::vector<double> energies_;       // s_j² x_jᵀAx_j
};

/// The reason why a preconditioner of A cannot be in single precision: a diagonal entry of A that
/// is not zero has a size outside of 2⁻⁶⁴ … 2⁶⁴. Elements of M are of the size of inverse diagonal
/// entries, and may be larger by orders of magnitude in an ill conditioned A. Empty if there is no
/// such entry. A is in the context's memory. Throws `InvalidArgument` if A is not square.
template <class Ctx>
std::string refuse_single_precision(Ctx& context, CsrView<double, typename Ctx::Space> A);

}  // namespace heddle
