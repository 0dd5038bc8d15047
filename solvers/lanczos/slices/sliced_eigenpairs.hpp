#pragma once

#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/operators/indefinite_inverse.hpp>

namespace heddle {

/// Upper bound of the bytes of the context's memory that a solve for `pairs` pairs holds, with its
/// result, without A, B and the factor, in one of `processes` processes with equal shares.
/// `scalar_size`: bytes per scalar of the blocks.
double sliced_memory_bytes(const IntervalOptions& options, Index n, Index pairs, bool pencil,
                           std::size_t scalar_size, int processes = 1);

/// All pairs of A x = λ B x with λ in [lower, upper], by slices: parts of the interval whose pairs
/// `nearest_eigenpairs` finds with one factor A − sB each. In ascending order. Eigenvalues whose
/// error bounds reach across an end belong to the interval, and `EigenResult::straddles` marks
/// them.
///
/// `inverse` holds A and B of the problem. By Sylvester's law of inertia, factors at both ends
/// count the N eigenvalues of the interval before any is computed. If N > `nev`, no pair is
/// computed, and the status is `max_iterations`. The ends are counted a tolerance farther out, so
/// that eigenvalues at an end are counted, too. s lies where factors count about half of the pairs
/// of a slice below it. A slice ends where a further factor counts as many eigenvalues as were
/// found, in a gap between them. The rest of the interval has then a known number of pairs, too. A
/// slice that takes all of the rest needs no factor but its own. Eigenvectors near a seam are
/// known eigenvectors for the slice beyond it, so that copies are neither lost nor found twice. At
/// the end, a Rayleigh–Ritz step over all pairs makes vectors of different slices B-orthogonal.
/// `completeness` is `inertia`, proven, if all N pairs were found.
///
/// The number of pairs per slice balances factorisations, solves and orthogonalisation. Up to order
/// 256, and where a dense solve costs less, the problem is solved as a dense one. If a limit or the
/// monitor ends the solve, the result holds the pairs of the slices so far. `max_iterations` limits
/// the cycles of all slices together. `lower` and `upper` may be infinite for a positive definite
/// B. B must be positive semidefinite, and definite on the vectors x with A x = 0. Numerical
/// trouble is a status in the result. Misuse throws `InvalidArgument`, which names both sides.
/// Constraints and initial guesses are not supported.
///
/// Where several processes of the context share the rows of `problem`, all call this together.
/// `whole` is then the same problem with all rows in this process, as `inverse` has it, and else
/// null. The processes solve slices side by side: each has a part of the interval with about as
/// many pairs as the others, between numbers in gaps between eigenvalues. Between two slices they
/// meet, and a process that a limit, its monitor or trouble has ended then ends all. The last step
/// divides the rows of all pairs. `max_iterations` limits the cycles of each process, and the
/// history is that of process 0. The monitor is shown the pairs of all processes as of the last
/// meeting.
///
/// Sources: Ericsson & Ruhe, Math. Comp. 35 (1980) 1251; Grimes, Lewis, Simon, SIAM J. Matrix Anal.
/// Appl. 15 (1994) 228; Campos & Roman, Numer. Algorithms 60 (2012) 279.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> sliced_eigenpairs(Ctx& context,
                                                      const EigenProblem<T, Ctx>& problem,
                                                      IndefiniteInverse<T, Ctx>& inverse,
                                                      const IntervalOptions& options,
                                                      const Monitor& monitor = {},
                                                      const EigenProblem<T, Ctx>* whole = nullptr);

}  // namespace heddle
