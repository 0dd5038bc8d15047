#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// The options of `interval_eigenpairs`. All eigenpairs with eigenvalues in [lower, upper] are
/// wanted. `nev` is the largest number of pairs that the interval may contain, and limits the
/// memory. `which` is ignored.
struct IntervalOptions : EigenOptions {
  double lower = 0;
  double upper = 0;
};

/// The number of columns of X to which the filter is applied at once, in a solve of order n.
Index interval_block_size(const IntervalOptions& options, Index n) noexcept;

/// Upper bound of the bytes of the context's memory that a solve holds, with its result and without
/// A. `scalar_size`: bytes per scalar of the blocks.
double interval_memory_bytes(const IntervalOptions& options, Index n, std::size_t scalar_size);

/// All eigenpairs of A x = λ x with λ in [lower, upper], multiple ones with all their copies, by
/// filtered subspace iteration. Eigenvalues within rounding of an end, 100 ε (‖A‖₁ + |λ|), belong
/// to the interval. A must be symmetric. This is not checked.
///
/// An iteration computes F X for a block X (n×m) and the Ritz pairs of A in its span. F is a
/// Chebyshev polynomial in A that is near 1 on the interval, ½ at its ends and near 0 away from it.
/// The number m of columns and the degree are chosen by the estimated spectral density. X has more
/// columns than there are eigenvalues in the interval and its surroundings, which extend by the
/// width of the interval on both sides. The weight xᵀFx of a Ritz vector x with ‖x‖ = 1
/// distinguishes Ritz pairs of the interval from mixtures of eigenvectors on both sides of it. A
/// Ritz vector with a small weight shows that X spans more than the eigenvectors of the
/// surroundings. Only then can no pair be missing. If X is too narrow for that, the solve starts
/// again from a wider random X. If convergence is slow, the degree is increased.
///
/// The status is `converged` if all residuals pass, computed from fresh products in each iteration,
/// and no further pair is in the interval. The list of pairs may then be empty. If the interval
/// contains more than `nev` eigenvalues, the status is `max_iterations` with this reason, and the
/// result holds the pairs found so far. Eigenvalues are in ascending order. The time limit can end
/// the solve between two products of a filter. The monitor is called after each iteration.
/// Numerical trouble is a status in the result. Misuse throws `InvalidArgument`, which names both
/// sides. B, constraints, initial guesses and preconditioners are not supported.
///
/// Sources: Pieper, Kreutzer, Alvermann, Galgon, Fehske, Hager, Lang, Wellein, J. Comput. Phys. 325
/// (2016) 226; Di Napoli, Polizzi, Saad, Numer. Linear Algebra Appl. 23 (2016) 674.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> interval_eigenpairs(Ctx& context,
                                                        const EigenProblem<T, Ctx>& problem,
                                                        const IntervalOptions& options,
                                                        const Monitor& monitor = {});

}  // namespace heddle
