#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/iteration/constrained_operator.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <optional>

namespace heddle::detail {

/// The constraints of a problem, made orthonormal, Y with YᵀBY = I. While this object lives, an
/// inverse is that of A − σB on the vectors with YᵀBx = 0, and counts the eigenvalues there.
template <Scalar T, class Ctx>
class ConstrainedPencil {
 public:
  using Space = typename Ctx::Space;

  /// The B of `problem` is the matrix of the inner product, and `inverse` holds the matrices of
  /// `problem`. Both must outlive this object.
  ConstrainedPencil(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    IndefiniteInverse<T, Ctx>& inverse);
  ~ConstrainedPencil();
  ConstrainedPencil(const ConstrainedPencil&) = delete;
  ConstrainedPencil& operator=(const ConstrainedPencil&) = delete;

  /// How the constraints came out. Without a rank, the inverse is not restricted.
  const OrthonormalBlock& made() const noexcept { return made_; }

  /// The number of independent constraints.
  Index rank() const noexcept { return made_.rank; }

  ConstBlockView<T, Space> Y() const noexcept { return Y_.columns(0, rank()); }

  /// (I − BYYᵀ)A for blocks of up to `width` columns, or A itself without constraints. It lives as
  /// long as this object.
  LinearOperator<T, Ctx>* restricted(Ctx& context, LinearOperator<T, Ctx>& A, Index width);

 private:
  Basis<T, Space> basis() const noexcept;

  Ctx& context_;
  IndefiniteInverse<T, Ctx>& inverse_;
  MultiVector<T, Space> Y_, BY_;  // n×c, the latter empty where B = I
  OrthonormalBlock made_;
  SmallMatrix<Wide<T>, Space> multipliers_;
  std::optional<ConstrainedOperator<T, Ctx>> restricted_;
};

}  // namespace heddle::detail
