#pragma once

#include <heddle/drivers/device.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>

/// From a problem in host memory to its solution there, in the precision, by the method and on the
/// device that a request asks for:
///
///     heddle::Problem problem{.A = heddle::Matrix(n, n, row_offsets, columns, values)};
///     heddle::Request request{.nev = 10};
///     heddle::Solution solution = heddle::solve(problem, request);
namespace heddle {

/// Solves `problem` on `device`, whatever `request.device` and `request.threads` say. Matrices and
/// blocks move to the device once, the vectors back once (in mixed precision: for each of its two
/// solves). On the host no matrix or block of the caller is copied in double precision. Only the
/// transpose that `normal_equations` needs is made, where the problem has none.
///
/// Numerical trouble is a status in the solution. Throws `ProblemError` and `RequestError` (both
/// `InvalidArgument`) for a problem or a request that cannot be, with both sides in the message;
/// `InvalidArgument` for what the method refuses; `OutOfMemory` where the solve would take more
/// memory than there is; `DeviceError`.
Solution solve(Device& device, Problem problem, const Request& request,
               const Monitor& monitor = {});

/// The same on the device that `request` asks for.
Solution solve(const Problem& problem, const Request& request = {}, const Monitor& monitor = {});

namespace detail {

/// `solve` of a problem that `prepare` has checked, by a request whose method is chosen.
Solution solve_prepared(Device& device, Problem problem, const Request& request,
                        const Monitor& monitor);

}  // namespace detail
}  // namespace heddle
