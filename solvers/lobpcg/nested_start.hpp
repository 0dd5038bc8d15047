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
/// begin with random vectors, those on each finer one with the vectors of the coarser one times
/// P_l. Motions that the coarse levels lack are not in X.
///
/// False where the options or the model do not want it, the preconditioner has no such levels, or B
/// is not stored. X is then not changed.
/// Source: Knyazev, Neymeyr, Efficient solution of symmetric eigenvalue problems using multigrid
/// preconditioners in the LOBPCG method, ETNA 15 (2003) 38.
template <Scalar T, class Ctx>
bool nested_start(Ctx& context, const EigenProblem<T, Ctx>& problem,
                  const PreconditionerSchedule<T, Ctx>& preconditioner,
                  const LobpcgOptions& options, BlockView<T, typename Ctx::Space> X);

/// Replaces the random X of a storage by N + δ V with N of `nested_start`, in up to `widest_start`
/// columns, and V from the random stream. Motions that the coarse levels lack are in V. Returns the
/// number of streams used, 0 where there is no N and X stays.
template <Scalar T, class Ctx>
std::uint64_t begin_on_levels(Ctx& context, const EigenProblem<T, Ctx>& problem,
                              const PreconditionerSchedule<T, Ctx>& preconditioner,
                              const LobpcgOptions& options, std::uint64_t stream,
                              typename LobpcgWorkspace<T, Ctx>::Storage& storage);

}  // namespace heddle::detail
