#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// A basis V of the range of B, n×r with VᵀBV = I and r the rank of B.
///
/// All eigenvectors of A x = λ B x with finite λ are F V y for the eigenvectors y of T = VᵀBFV. For
/// B = Q M Qᵀ, V is Q M^(-1/2) without the eigenvalues that are 0 to rounding, after the rows of B
/// are scaled to diagonals near 1. Dense: for small n.
template <Scalar T, class Ctx>
class WholeSpace {
 public:
  using Space = typename Ctx::Space;

  /// `B`: null for the identity, kept by pointer. `definite`: whether B is known to be definite, so
  /// that only eigenvalues that are 0 to the rounding of the dense solve are left out. Blocks of
  /// `block` columns are multiplied at once. Throws `OutOfMemory`.
  WholeSpace(Ctx& context, Index n, LinearOperator<T, Ctx>* B, bool definite, Index block);

  /// Leaves out the span of X, n×k with XᵀBX = I.
  void exclude(Ctx& context, ConstBlockView<T, Space> X);

  /// Whether xᵀBx < 0 for an x, beyond rounding. V is empty then.
  bool indefinite() const noexcept { return indefinite_; }

  ConstBlockView<T, Space> V() const { return V_.view().columns(0, rank_); }  ///< n×r

  /// T = VᵀBFV, r×r. Valid until the next call.
  ConstSmallView<Wide<T>, HostSpace> project(Ctx& context, LinearOperator<T, Ctx>& F) {
    return project(context, F, B_);
  }

 private:
  ConstSmallView<Wide<T>, HostSpace> project(Ctx& context, LinearOperator<T, Ctx>& first,
                                             LinearOperator<T, Ctx>* second);
  void span_range(Ctx& context, double rounding);
  void combine(Ctx& context, ConstSmallView<Wide<T>, HostSpace> Z);

  LinearOperator<T, Ctx>* B_;
  OwnedHostContext host_;
  MultiVector<T, Space> V_, product_, image_;
  SmallMatrix<Wide<T>, HostSpace> projected_;
  SmallMatrix<Wide<T>, Space> small_;
  Index rank_;
  bool indefinite_ = false;
};

}  // namespace heddle::detail
