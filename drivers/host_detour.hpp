#pragma once

#include <heddle/drivers/choice.hpp>
#include <heddle/drivers/device.hpp>
#include <heddle/drivers/resident_problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <string>

/// Problems in the memory of a device that are solved from a copy in host memory, because the solve
/// of a host problem treats what the entries of their matrices show: it scales matrices and rows,
/// counts infinite eigenvalues, eliminates held rows and knows null vectors.
namespace heddle::detail {

/// Whether the matrices of `problem` can be copied: all of them are stored.
template <Scalar T, class Ctx>
bool is_stored(const ResidentProblem<T, Ctx>& problem);

/// Why the sizes of the rows of A ask for a copy, for a request whose method has been chosen: the
/// rows may be graded, see `RowGrading`, or held, see `HeldRows`. Empty: they do not. `shape`
/// has the sizes of `problem`, which have been checked.
template <Scalar T, class Ctx>
std::string rows_to_scale(Ctx& context, const ResidentProblem<T, Ctx>& problem,
                          const Problem& shape, const MethodChoice& choice);

/// Solves a copy of `problem` in host memory, as `solve` of a host problem does, and brings the
/// vectors back to the memory of the context. The reason of the solution ends with `why`. Throws
/// `OutOfMemory` if host memory cannot hold the copy, whose bytes are those of `shape`.
template <Scalar T, class Ctx>
ResidentSolution<T, typename Ctx::Space> solve_from_host(
    Device& device, Ctx& context, const ResidentProblem<T, Ctx>& problem, const Problem& shape,
    const Request& request, const Monitor& monitor, const std::string& why);

}  // namespace heddle::detail
