#pragma once

#include <functional>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>

namespace heddle::detail {

/// Solves in one precision.
template <Scalar T>
using SolveIn = std::function<Solution(HostProblem<T>, const Request&, const Monitor&)>;

/// Mixed precision: `single` as far as it reaches, then `full` from these vectors, within the same
/// limits. The solution counts both stages. It is that of the first stage alone where double
/// precision cannot take over.
Solution solve_mixed(HostContext& host, Problem problem, const Request& request,
                     const Monitor& monitor, const SolveIn<float>& single,
                     const SolveIn<double>& full);

}  // namespace heddle::detail
