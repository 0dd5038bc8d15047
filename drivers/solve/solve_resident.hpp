#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/solve_plan.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>

/// Solves in the memory of a device.
namespace heddle {

/// Solves `problem` on `device`, whose context holds it, in the precision T. Returns when the
/// vectors are computed. `device` must outlive the solution.
///
/// `Method::automatic` chooses as for a problem in host memory. For the smallest end it copies the
/// patterns of A and B, without their values, to the host, to estimate the cost of a factorisation.
/// A method that factors A − σB does so on the host.
///
/// A problem is solved from a copy in host memory, as `solve` of a host problem does, where the
/// device finds that it needs what only that does:
///
///   entries of A or B are so large or small that squares leave the range of T
///   a diagonal entry of B is 0 or negative
///   the sizes of the rows of A, relative to those of B, ask for scaling (see `detail::RowGrading`)
///   held rows may dominate a right-hand side (see `detail::HeldRows`)
///   `request.project_rhs` asks for null vectors
///
/// The reason of the solution says so, and the vectors lie in the memory of the context. A problem
/// with a callable cannot be copied. The first two and the last are then refused.
///
/// Otherwise, null vectors that the graph of A shows are not looked for, and a mass matrix that is
/// not positive definite is found out by the solve, if at all.
///
/// Throws as `solve` of a host problem does, `RequestError` if `request.precision` is not that of T
/// or its default, and `InvalidArgument` if the device is of another kind than Ctx or solves with
/// several processes.
template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve(Device& device, ResidentProblem<T, Ctx> problem,
                                               const Request& request, const Monitor& monitor = {});

/// The two steps of `solve`, as for a problem in host memory. The plan of a problem that is solved
/// from a copy holds this copy.
template <Scalar T, class Ctx>
SolvePlan plan(Device& device, const ResidentProblem<T, Ctx>& problem, const Request& request = {},
               const Monitor& monitor = {});
template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> run(Device& device, ResidentProblem<T, Ctx> problem,
                                             const SolvePlan& plan, const Monitor& monitor = {});

/// The spectral density of a symmetric A, as of one in host memory.
template <Scalar T, class Ctx>
SpectralDensity spectral_density(Device& device, const ResidentMatrix<T, Ctx>& A,
                                 const SpectralDensityOptions& options = {});

}  // namespace heddle
