#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>

/// Linear buckling, K x = −λ K_g x with the load factors λ, as a pencil whose matrix is definite.
namespace heddle::detail {

/// `problem` with B = −K_g, if it has a geometric stiffness K_g. One that is not stored is refused
/// later, and stays as it is. Throws `ProblemError` if there is a mass matrix, too.
Problem buckling_pencil(HostContext& context, Problem problem);

/// `request` for load factors: the pairs nearest to 0 on the positive side, unless it names another
/// number or side. One that is so already stays the same.
Request load_factor_request(Request request);

}  // namespace heddle::detail
