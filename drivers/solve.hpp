#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/solve_plan.hpp>
#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>

/// Solves a problem in host memory, in the precision, by the method and on the device that a
/// request chooses. The solution is in host memory:
///
///     heddle::Problem problem{.A = heddle::Matrix(n, n, row_offsets, columns, values)};
///     heddle::Request request{.nev = 10};
///     heddle::Solution solution = heddle::solve(problem, request);
///
/// A solve is a plan, which can be looked at, and a run:
///
///     heddle::Device device = heddle::device_for(request);
///     heddle::SolvePlan plan = heddle::plan(device, problem, request);
///     for (const auto& choice : plan.choices()) std::cout << choice.name << ' ' << choice.value;
///     heddle::Solution solution = heddle::run(device, problem, plan);
namespace heddle {

/// The plan of a solve of `problem` on `device`: inspects the problem, chooses, and checks the
/// request, whose fields `device` and `threads` are ignored. Takes as long as some products with A.
/// Throws `ProblemError` and `RequestError` (both `InvalidArgument`) for an invalid problem or
/// request, with both sides in the message, and `OutOfMemory` if the solve would need more memory
/// than is available. Of several processes, process 0 plans.
SolvePlan plan(Device& device, const Problem& problem, const Request& request = {},
               const Monitor& monitor = {});

/// Solves `problem` as `plan`, which was made for it on this device. Matrices and blocks are copied
/// to the device once, and the vectors are copied back once. Mixed precision does this for each of
/// its two solves. On the host, a solve in double precision copies no matrix or block of the
/// caller. It only makes the transpose that `normal_equations` needs if the problem has none.
///
/// Numerical trouble is a status in the solution. Throws `InvalidArgument` for arguments that the
/// method rejects, `ProblemError` for what only the solve finds out, `OutOfMemory` and
/// `DeviceError`.
Solution run(Device& device, Problem problem, const SolvePlan& plan, const Monitor& monitor = {});

/// Plans and runs. Throws as both do.
Solution solve(Device& device, Problem problem, const Request& request,
               const Monitor& monitor = {});

// Complex matrices are solved in double precision. What is there for real matrices only is refused
// by a `RequestError` or `ProblemError`.

/// As `plan` of a real problem.
SolvePlan plan(Device& device, const ComplexProblem& problem, const Request& request = {},
               const Monitor& monitor = {});

/// As `run` of a real problem.
Solution run(Device& device, ComplexProblem problem, const SolvePlan& plan,
             const Monitor& monitor = {});

/// As `solve` of a real problem on `device`.
Solution solve(Device& device, ComplexProblem problem, const Request& request,
               const Monitor& monitor = {});

/// The device that `request` chooses by `device`, `devices` and `threads`, for one process or, of
/// several `processes`, for this one. Several GPUs of one process are led by a thread each, and by
/// the caller as process 0. They share the host threads. Throws `DeviceError` if there are fewer
/// GPUs than it asks for, and `RequestError` if it asks for several on the host, or in one of
/// several processes.
Device device_for(const Request& request, const std::shared_ptr<Processes>& processes = nullptr);

/// Solves `problem` on the device that `request` chooses.
Solution solve(const Problem& problem, const Request& request = {}, const Monitor& monitor = {});
Solution solve(const ComplexProblem& problem, const Request& request = {},
               const Monitor& monitor = {});

/// The part of all processes but process 0 of `processes`: takes part in the solves of process 0,
/// which calls `solve` on a `Device` with these processes, until that calls `dismiss`. Returns the
/// code of that call. An exception of a solve on any process leaves the others waiting for it. The
/// program must then end them by `Processes::abort`.
int serve(const std::shared_ptr<Processes>& processes);

/// Ends `serve` on all other processes. Called by process 0 after its last solve.
void dismiss(Processes& processes, int code = 0);

namespace detail {

class Followers;

/// `size` - 1 threads of this program that `serve` the thread of the caller.
std::shared_ptr<Followers> followers(int size);

/// As `run`. Each of several processes keeps its rows of the vectors, see `Solution::own_vectors`,
/// unless the result is scaled.
Solution run_keeping_vectors(Device& device, Problem problem, const SolvePlan& plan,
                             const Monitor& monitor);
Solution run_keeping_vectors(Device& device, ComplexProblem problem, const SolvePlan& plan,
                             const Monitor& monitor);

/// The plan for runs with this checkpoint.
SolvePlan with_checkpoint(const SolvePlan& plan, const CheckpointOptions& checkpoint);

}  // namespace detail

// The spectrum of a matrix in host memory.

/// The spectral density of a symmetric n×n A, estimated on `device`. A stored A is copied to the
/// device once. Throws `ProblemError` if A is empty, not square or, as far as it is stored, not
/// symmetric, and `RequestError` for a callable on a GPU. Throws as `spectral_density` of an
/// operator does.
SpectralDensity spectral_density(Device& device, const Matrix& A,
                                 const SpectralDensityOptions& options = {});

/// The same for a Hermitian A.
SpectralDensity spectral_density(Device& device, const ComplexMatrix& A,
                                 const SpectralDensityOptions& options = {});

}  // namespace heddle
