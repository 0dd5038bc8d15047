#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/solvers/problem/monitor.hpp>

namespace heddle::detail {

/// Checks that symmetric A and positive semidefinite B have no common null vector. With A z = 0 and
/// B z = 0, every number λ has (A − λB) z = 0: the pencil is singular, and rounding errors decide
/// what a solver finds. B alone may be singular.
///
/// Let D be the diagonal of |A| + s|B|, summed by rows, and y = D^(1/2) z with ‖y‖ = 1. z counts as
/// a null vector if ‖D^(−1/2) A z‖ and ‖D^(−1/2) s B z‖ are at most 1e-13. Such a z is searched for
/// from a random vector: by inverse iteration with K = D^(−1/2) (A + sB) D^(−1/2) up to order
/// 20000, above by conjugate gradients for K y = 0, which leave the part in the null space as it
/// is and shrink the rest. They are tried with B alone first, because a definite B ends the search.
/// Their number is limited, so that above this order a z may be overlooked. Throws `ProblemError`
/// if one is found. A and B must be stored and of one order.
///
/// `singular_mass`: whether B is known to be singular. Up to order 20000 nothing is done if it is
/// known to be definite. `monitor` is told of the search as a stage and can stop the conjugate
/// gradients. A search that is stopped finds nothing.
void check_regular(HostContext& context, CsrView<double, HostSpace> A, CsrView<double, HostSpace> B,
                   bool singular_mass, const Monitor& monitor);

}  // namespace heddle::detail
