#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/drivers/solution.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <string_view>

/// Solves of two stages, of which the second continues from the vectors of the first.
namespace heddle::detail {

/// A monitor for the second stage that adds the counts of `first`, which must outlive it. Empty
/// where `monitor` is.
Monitor continued(const Solution& first, const Monitor& monitor);

/// Puts the counts and the history of the first stage in front of those of the second. `stage`:
/// what the first stage was, such as "in single precision".
void prepend(const Solution& first, Solution& second, std::string_view stage);

/// Gives a second stage that ended at rounding the verdict of the first one, whose tolerance was
/// larger and whose pairs passed.
void keep_verdict(const Solution& first, Solution& second);

/// `request` for a second stage: with the iterations and the time that the first one has left.
Request remaining(const Request& request, const Solution& first);

/// The vectors of a solution as an initial guess in double.
Block guess_from(HostContext& context, const Solution& first);

}  // namespace heddle::detail
