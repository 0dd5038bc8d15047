#pragma once

#include <functional>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>

namespace heddle::detail {

/// A function that solves a problem in one precision.
template <Scalar T>
using SolveIn = std::function<Solution(HostProblem<T>, const Request&, const Monitor&)>;

/// Solves in mixed precision: first by `single`, then by `full` with the vectors of the first stage
/// as initial guess. The limits of iterations and time hold for both stages together. The counts in
/// the solution include both stages. If the first stage ended with a status from which double
/// precision cannot continue, its solution is returned.
Solution solve_mixed(HostContext& host, Problem problem, const Request& request,
                     const Monitor& monitor, const SolveIn<float>& single,
                     const SolveIn<double>& full);

}  // namespace heddle::detail
