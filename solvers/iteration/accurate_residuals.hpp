#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>

namespace heddle::detail {

/// The sizes of the rows in which a vector x lives, xᵀBx = 1, see `ErrorNorms`.
struct RowSizes {
  double A = 0;    ///< of A, a mean that small parts of x in huge rows do not change
  double sum = 0;  ///< of A, the sum |x|ᵀ|A||x|, in which each row counts
  double B = 1;    ///< of B, |x|ᵀ|B||x|
};

/// How residuals are summed: in the working precision, or in twice that.
enum class Residuals { rounded, accurate };

/// Whether `accurate_residuals` has the entries of A and B: stored, and in double precision.
/// Entries in single precision are rounded ones of the given matrix.
template <Scalar T, class Ctx>
bool has_accurate_residuals(const EigenProblem<T, Ctx>& problem);

/// R = A V − B V diag(theta) (n×b), summed in twice the precision and rounded once. Requires
/// `has_accurate_residuals`. Processes that share the rows call it together.
template <Scalar T, class Ctx>
void accurate_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                        ConstBlockView<T, typename Ctx::Space> V,
                        ConstSmallView<double, HostSpace> theta,
                        BlockView<T, typename Ctx::Space> R);

/// What rounding changes in the value λ = θ + xᵀr/xᵀBx for such an r, with ‖r‖ = `residual` in the
/// norm of B⁻¹: that of the entries of A and B, of θ, of xᵀr and of xᵀBx. Infinite where xᵀBx has
/// no digits.
double accurate_rounding(double lambda, double theta, double residual, const RowSizes& rows);

}  // namespace heddle::detail
