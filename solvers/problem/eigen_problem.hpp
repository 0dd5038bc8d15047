#pragma once

#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>

namespace heddle {

/// The problem A x = λ B x, A symmetric, B symmetric positive definite. Nothing is owned.
template <Scalar T, class Ctx>
struct EigenProblem {
  using Space = typename Ctx::Space;

  LinearOperator<T, Ctx>* A = nullptr;
  LinearOperator<T, Ctx>* B = nullptr;               ///< null: B = I
  Preconditioner<T, Ctx>* preconditioner = nullptr;  ///< null: identity
  ConstBlockView<T, Space> constraints{};  ///< n×c: eigenvectors are sought B-orthogonal to it
  ConstBlockView<T, Space>
      initial_guess{};  ///< n×g: the first b − 2 are used, the others of X are random
  LinearOperator<T, Ctx>* B_inverse = nullptr;  ///< applies B⁻¹; only block Lanczos needs it
  /// Of A and B; block Lanczos factors where that pays at the smallest end, see `LanczosFilter`.
  ShiftedInverse<T, Ctx>* shifted_inverse = nullptr;
};

}  // namespace heddle
