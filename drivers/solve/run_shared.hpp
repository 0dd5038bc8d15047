#pragma once

#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/preconditioner.hpp>
#include <heddle/drivers/problem/solution.hpp>
#include <heddle/drivers/team/local.hpp>
#include <heddle/solvers/problem/monitor.hpp>

namespace heddle::detail {

/// The context that a solve runs in, and the device that it belongs to.
template <class Ctx>
struct Place {
  Device& device;
  Ctx& context;
  bool keeps_vectors = false;  ///< each process its rows, where there are several
};

/// Solves the problem of which each process of the device has its rows, which all of them call
/// together. Only process 0 gets vectors, unless `keeps_vectors`. `plan`: the preconditioner that
/// was planned for the whole problem.
template <Scalar T, class Ctx>
Solution run_shared(const Place<Ctx>& on, SharedProblem<T> shared, const PreconditionerPlan& plan,
                    const Request& request, const Monitor& monitor);

}  // namespace heddle::detail
