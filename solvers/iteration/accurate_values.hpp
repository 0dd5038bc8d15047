#pragma once

#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <span>

/// Error bounds of values without the rounding errors of products with A and B, where these decide.
///
/// A Rayleigh quotient has an error of about ε|x|ᵀ|A||x|, by rounding of products with A alone.
/// With a residual r = A x − θ B x that is accurate to its last digits, so is the quotient θ +
/// xᵀr/xᵀBx, and only ‖r‖²/gap is left. The rounding of x itself is part of r.
namespace heddle::detail {

/// Whether rounding costs a value digits that `take_accurate_residuals` can save: on the host, for
/// a stored A and B. `sizes_A`: of `ErrorNorms::measure_sizes_A`. `scratch`: as many numbers.
template <Scalar T, class Ctx>
bool needs_accuracy(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const ErrorNorms<T, Ctx>& norms, SmallView<double, typename Ctx::Space> sizes_A,
                    SmallView<double, HostSpace> scratch, std::span<const double> values);

/// R = A V − B V diag(theta) with sums in twice the precision, on the host.
template <Scalar T, class Ctx>
void take_accurate_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                             ConstBlockView<T, typename Ctx::Space> V, const double* theta,
                             BlockView<T, typename Ctx::Space> R);

/// What `accurate_error` needs of a pair (λ, x) with accurate residuals.
struct AccurateParts {
  double lambda = 0;        ///< its value θ + xᵀr/xᵀBx
  double theta = 0;         ///< θ of its residual
  double bound = 0;         ///< from `ErrorBounds`
  double spread = 0;        ///< likewise
  double dot = 0;           ///< at least |x|ᵀ|r|/xᵀBx
  double size_B = 1;        ///< |x|ᵀ|B||x|/xᵀBx
  double noise = 0;         ///< the largest rounding error of all values, which blurs gaps
  double displacement = 0;  ///< what else the error of the value consists of
};

/// A bound of the whole error of a value. Infinite where no gap is known, and for values that are
/// zero to rounding: what is left of them stems from rounded entries of A and says nothing.
template <Scalar T>
double accurate_error(const AccurateParts& pair, const ValueErrors& errors);

}  // namespace heddle::detail
