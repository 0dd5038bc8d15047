#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// The interval [lower, upper] whose eigenpairs are wanted, all of them. `nev` is the most that
/// there may be; it bounds the memory. `which` is not looked at.
struct IntervalOptions : EigenOptions {
  double lower = 0;
  double upper = 0;
};

/// Columns of X that the filter is applied to at once in a solve of order n.
Index interval_block_size(const IntervalOptions& options, Index n) noexcept;

/// Bytes of the context's memory that a solve holds beside A at most, its result included.
/// `scalar_size`: bytes of a scalar of the blocks.
double interval_memory_bytes(const IntervalOptions& options, Index n, std::size_t scalar_size);

/// All eigenpairs of A x = λ x with λ in [lower, upper], multiple ones with all their copies, by
/// filtered subspace iteration. Eigenvalues within rounding of an end, 100 ε (‖A‖₁ + |λ|), belong
/// to the interval. A must be symmetric; nothing checks that here.
///
/// An iteration applies F, a Chebyshev polynomial in A that is near 1 on the interval, ½ at its
/// ends and near 0 away from it, to a block X of n×m, and takes Ritz pairs of A from what that
/// gives. Spectral density says how many columns and which degree it takes: X holds more columns
/// than the interval and its surroundings, as wide as the interval itself, have eigenvalues.
/// xᵀFx tells Ritz pairs of the interval from mixtures of eigenvectors on both sides of it, and
/// shows whether X reaches beyond the interval's surroundings: only then is nothing missed. Where X
/// turns out too narrow a wider one is drawn; where convergence is slow the degree grows.
///
/// `converged`: all residuals pass, measured with fresh products in each iteration, and there is
/// nothing else in the interval; an empty list is an answer. More than `nev` eigenvalues are a
/// `max_iterations` that says so in its reason, with those found so far. Eigenvalues ascend.
/// The time limit ends a filter between two of its products, the monitor is asked after each
/// iteration. Numerical trouble is a status; misuse throws `InvalidArgument` naming both sides.
/// Neither B nor constraints, initial guesses and preconditioners are taken.
///
/// Sources: Pieper, Kreutzer, Alvermann, Galgon, Fehske, Hager, Lang, Wellein, J. Comput. Phys. 325
/// (2016) 226; Di Napoli, Polizzi, Saad, Numer. Linear Algebra Appl. 23 (2016) 674.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> interval_eigenpairs(Ctx& context,
                                                        const EigenProblem<T, Ctx>& problem,
                                                        const IntervalOptions& options,
                                                        const Monitor& monitor = {});

}  // namespace heddle
