#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>

namespace heddle::detail {

/// The ratio of ‖A‖₁ to the size of the smallest rows of A in which a pair may live: the smallest
/// 1/‖D⁻¹x‖ over the columns of X with ‖x‖ = 1 and over a vector whose entries are of equal size,
/// which `last`, the size of the last wanted value times ‖B‖₁, bounds from below. D are the sizes
/// of the rows of A, from products with random vectors. Where the ratio is large, motions of stiff
/// parts may have small eigenvalues that an iteration without an inverse hardly sees.
template <Scalar T, class Ctx>
double stiffness(Ctx& context, LinearOperator<T, Ctx>& A, ConstBlockView<T, typename Ctx::Space> X,
                 double last);

}  // namespace heddle::detail
