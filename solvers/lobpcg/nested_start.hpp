#pragma once

#include <heddle/solvers/lobpcg/workspace.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>

namespace heddle::detail {

/// X (n×b) ← approximate eigenvectors of the smallest eigenvalues of A x = λ B x, by nested
/// iteration over the levels of the preconditioner. On level l the pencil is (A_l, M_l) with
///
///     M_0 = S diag(B) S,    M_{l+1} = diag(P_lᵀ M_l P_l)
///
/// and A_l, P_l and S of `GridLevels`. A few LOBPCG steps on the coarsest level with enough rows
/// begin with random vectors. Those on each finer level begin with P_l times the vectors of the
/// coarser one. Motions that the coarse levels lack are not in X.
///
/// False for the largest end, for tolerances above 1e-7, where `options.start` excludes it, where
/// the preconditioner has no such levels, and where B is not stored. X is then not changed. Source:
/// Knyazev, Neymeyr, Efficient solution of symmetric eigenvalue problems using multigrid
/// preconditioners in the LOBPCG method, ETNA 15 (2003) 38.
template <Scalar T, class Ctx>
bool nested_start(Ctx& context, const EigenProblem<T, Ctx>& problem,
                  const PreconditionerSchedule<T, Ctx>& preconditioner,
                  const LobpcgOptions& options, BlockView<T, typename Ctx::Space> X);

/// Replaces the random X of a storage by N + V, with N of `nested_start` in up to `widest_start`
/// columns. V is random, with a fifth of the norms: it holds motions that the coarse levels lack.
/// A S is overwritten. Returns the number of random streams used, of which `stream` is the first. X
/// stays random where there is no N, or no memory for it.
template <Scalar T, class Ctx>
std::uint64_t begin_on_levels(Ctx& context, const EigenProblem<T, Ctx>& problem,
                              const PreconditionerSchedule<T, Ctx>& preconditioner,
                              const LobpcgOptions& options, std::uint64_t stream,
                              typename LobpcgWorkspace<T, Ctx>::Storage& storage);

}  // namespace heddle::detail
