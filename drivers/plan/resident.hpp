#pragma once

#include <heddle/drivers/plan/choice.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <string>

/// Problems in the memory of a device that are solved from a copy in host memory, because the solve
/// of a host problem treats what the entries of their matrices show: it scales matrices and rows,
/// counts infinite eigenvalues, eliminates held rows and knows null vectors.
namespace heddle::detail {

/// Why the sizes of the rows of A ask for a copy: the rows may be graded, see `RowGrading`, or
/// held, see `HeldRows`. Empty: they do not. All matrices are stored, and `facts` have been
/// checked.
template <Scalar T, class Ctx>
std::string rows_to_scale(Ctx& context, const ResidentProblem<T, Ctx>& problem, const Facts& facts,
                          const MethodChoice& choice);

}  // namespace heddle::detail
