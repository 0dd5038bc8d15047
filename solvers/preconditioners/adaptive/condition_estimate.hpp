#pragma once

#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// The smallest and the largest Ritz value of M⁻¹A after some steps of CG with a random right-hand
/// side. Both lie within the spectrum of M⁻¹A. smallest ≤ 0: A or M is not positive definite, or
/// not finite.
struct RitzInterval {
  double smallest = 0;
  double largest = 0;

  /// A lower bound of the condition number of M⁻¹A. Infinite if it is not positive definite.
  double condition() const noexcept;
};

/// At most `steps` steps. M: null for the identity. Each costs a product with A and one with M.
/// Deterministic. Source: Golub and Van Loan, Matrix Computations, 2013, section 11.3.5 (the
/// tridiagonal matrix of CG).
template <Scalar T, class Ctx>
RitzInterval condition_estimate(Ctx& context, LinearOperator<T, Ctx>& A, Preconditioner<T, Ctx>* M,
                                Index steps);

}  // namespace heddle::detail
