#pragma once

#include <heddle/drivers/solve/run_shared.hpp>

namespace heddle::detail {

/// Shares the problem of process 0 with all processes of the device, which call this together, and
/// solves it with them. Others pass a problem only where each has made its own rows.
template <Scalar T, class Ctx>
Solution share_and_run(const Place<Ctx>& on, HostProblem<T> problem, Facts facts,
                       const PreconditionerPlan& plan, const Request& request,
                       const Monitor& monitor);

/// Calls the other processes to a solve in T, and solves with them. Called by process 0.
template <Scalar T, class Ctx>
Solution run_together(const Place<Ctx>& on, HostProblem<T> problem, Facts facts,
                      const PreconditionerPlan& plan, const Request& request,
                      const Monitor& monitor);

}  // namespace heddle::detail
