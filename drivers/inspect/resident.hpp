#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/linalg/sparse/csr_survey.hpp>
#include <string>

/// Looks at the entries of a problem in the memory of a context.
namespace heddle::detail {

/// Findings in a stored matrix that only the solve of a host problem treats.
struct Finding {
  ProblemPart part = ProblemPart::matrix;
  std::string what{};  ///< empty: nothing
};

/// Looks at a stored matrix. Throws `ProblemError` for one that is not in compressed sparse rows,
/// or, unless `any_shape`, is not symmetric.
template <Scalar T, class Ctx>
CsrSurvey inspected(Ctx& context, const ResidentMatrix<T, Ctx>& A, ProblemPart part,
                    bool any_shape);

/// Looks at all stored matrices of `problem`, whose shapes `facts` has, and completes these. A B
/// that shows no trouble counts as positive definite.
template <Scalar T, class Ctx>
Finding inspect(Ctx& context, HostContext& host, const ResidentProblem<T, Ctx>& problem,
                const Request& request, Facts& facts);

}  // namespace heddle::detail
