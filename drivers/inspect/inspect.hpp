#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/solvers/problem/monitor.hpp>

/// Looks at the entries of a problem in host memory.
namespace heddle::detail {

/// Finds the facts about `problem`, whose shapes `facts` has, and checks it. Throws `ProblemError`
/// if A is not symmetric (unless `normal_equations`), if B cannot be positive semidefinite (see
/// `null_space_of_mass`), if A and B have a common null vector (see `check_regular`), and as
/// `known_null_space` and `find_near_null` do. If `monitor` stops a check that may take long, this
/// returns, and the solve ends at its first look at the monitor.
void inspect(HostContext& context, const Problem& problem, const Request& request, Facts& facts,
             const Monitor& monitor);

}  // namespace heddle::detail
