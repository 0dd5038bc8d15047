#pragma once

#include <heddle/drivers/plan/details.hpp>
#include <heddle/solvers/problem/monitor.hpp>

namespace heddle::detail {

/// The plan for solving `problem`, in host memory, on `machine`: inspects it, chooses, and checks
/// the request. Throws `ProblemError`, `RequestError` and `OutOfMemory`. `monitor` is told of
/// stages that may take long, and may stop a check.
SolvePlan make_plan(HostContext& host, const Machine& machine, const Problem& problem,
                    const Request& request, const Monitor& monitor);

}  // namespace heddle::detail
