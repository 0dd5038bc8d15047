#pragma once

#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {

/// Counts the eigenvalues of A x = λ B x on the vectors with YᵀBx = 0.
///
/// By Haynsworth's formula for the inertia of [A − sB, C; Cᵀ, 0], C = BY with independent columns,
/// these are the negative eigenvalues of A − sB less those of G = Cᵀ(A − sB)⁻¹C.
template <Scalar T, class Ctx>
class EigenvalueCount {
 public:
  using Space = typename Ctx::Space;

  /// `problem` and `inverse`, of the same matrices, must outlive this object.
  EigenvalueCount(Ctx& context, const EigenProblem<T, Ctx>& problem,
                  IndefiniteInverse<T, Ctx>& inverse);

  /// All eigenvalues, n less the independent constraints.
  Index all() const noexcept { return all_; }

  /// The number of eigenvalues below s. Nothing if it is not certain. Throws `OutOfMemory`.
  std::optional<Index> below(double s);

 private:
  void take_constraints(ConstBlockView<T, Space> Y, LinearOperator<T, Ctx>* B);
  std::optional<Index> of_constraints();

  Ctx& context_;
  IndefiniteInverse<T, Ctx>& inverse_;
  Index all_;
  MultiVector<T, Space> C_;    // B Y, n×c
  std::vector<double> basis_;  // W, c×r by columns, with Y W orthonormal in B
};

}  // namespace heddle::detail
