#pragma once

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// The options of `interval_eigenpairs`. All eigenpairs with eigenvalues in [lower, upper] are
/// wanted. Ends may be infinite. `nev` ≤ n is the largest number of pairs that the interval may
/// contain, and limits the memory. `which` is ignored.
struct IntervalOptions : EigenOptions {
  double lower = 0;  ///< the lower end
  double upper = 0;  ///< the upper end
};

/// The number of columns to which the filter is applied at once, in a solve of order n.
Index interval_block_size(const IntervalOptions& options, Index n) noexcept;

/// Upper bound of the bytes of the context's memory that a solve holds, with its result and without
/// A. A dense solve that replaces costly filters is not included, see `EigenOptions::dense_bytes`.
/// `scalar_size`: bytes per scalar of the blocks.
double interval_memory_bytes(const IntervalOptions& options, Index n, std::size_t scalar_size);

/// All eigenpairs of A x = λ x with λ in [lower, upper], multiple ones with all their copies, by
/// block Lanczos on a filter. Eigenvalues whose error bounds reach across an end belong to the
/// interval, and `EigenResult::straddles` marks them. A must be symmetric. This is not checked.
///
/// The filter F is a Chebyshev polynomial in A that is large on the interval and near 0 away from
/// it. Its degree, and the size of the basis, are chosen by the estimated spectral density. The
/// leading Ritz vectors of F, the candidates, span the eigenvectors of the interval and some
/// outside it. The Ritz values of A in their span decide which pairs lie in the interval. Once all
/// pass, a check starts from a random block orthogonal to them. It ends when a missed eigenvector
/// would have become a candidate. If one does, as where an eigenvalue has more copies than a block
/// has columns, the search continues. An iteration ends with a test of the basis.
///
/// The status is `converged` if all residuals pass, computed from fresh products in each iteration,
/// all other candidates lie outside by more than their errors, and a check has found no further
/// one. The list of pairs may then be empty. If the interval contains more than `nev` eigenvalues,
/// the status is `max_iterations` with this reason, and the result holds the pairs found so far:
/// none if the density shows it beforehand. Eigenvalues are in ascending order. The time limit can
/// end the solve between two products of a filter. The monitor is called after each iteration.
/// Numerical trouble is a status in the result. Misuse throws `InvalidArgument`, which names both
/// sides. B, constraints, initial guesses and preconditioners are not supported.
///
/// Sources: Li, Xi, Vecharynski, Yang, Saad, SIAM J. Sci. Comput. 38 (2016) A2512; Saad, SIAM J.
/// Numer. Anal. 17 (1980) 687; Di Napoli, Polizzi, Saad, Numer. Linear Algebra Appl. 23 (2016) 674.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> interval_eigenpairs(Ctx& context,
                                                        const EigenProblem<T, Ctx>& problem,
                                                        const IntervalOptions& options,
                                                        const Monitor& monitor = {});

}  // namespace heddle
