#pragma once

#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/preconditioners/adaptive/cg_coefficients.hpp>

namespace heddle::detail {

/// The estimate of at most `steps` steps of CG. M: null for the identity. Each costs a product with
/// A and one with M. The right-hand side is 1 + ρ_i with fixed random numbers ρ_i in (−1, 1): the
/// smooth part shows small eigenvalues of meshes after fewer steps, the other part those of other
/// matrices. Deterministic. `null_vectors`: orthonormal vectors, n×k, that span the null space of a
/// semidefinite A. The right-hand side is orthogonal to them, so that the estimate counts the other
/// eigenvalues only. Without columns A is taken for definite. Source: Golub and Van Loan, Matrix
/// Computations, 2013, section 11.3.5 (the tridiagonal matrix of CG, whose eigenvalues are Ritz
/// values of M⁻¹A).
template <Scalar T, class Ctx>
ConditionEstimate condition_estimate(Ctx& context, LinearOperator<T, Ctx>& A,
                                     LinearOperator<T, Ctx>* M, Index steps,
                                     ConstBlockView<T, typename Ctx::Space> null_vectors = {});

}  // namespace heddle::detail
