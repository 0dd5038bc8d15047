#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <string>
#include <string_view>

namespace heddle::detail {

/// A preconditioner as it will be made.
struct PreconditionerPlan {
  const PreconditionerKind* kind = nullptr;               ///< null: none is made
  PreconditionedMatrix matrix = PreconditionedMatrix::A;  ///< whose inverse it approximates
  PreconditionerOptions options{"none", {}};

  /// As requests name it: "none", "jacobi".
  std::string_view name() const noexcept {
    return kind != nullptr ? std::string_view(kind->name) : "none";
  }
  /// "none", "jacobi of A", "chebyshev of B, degree 10".
  std::string describe() const;
};

/// What a solve of a problem of `sizes`, as `request` with its method chosen says, means to
/// preconditioners. `stored`: whether the matrices are.
PreconditionedProblem preconditioned_problem(const Request& request, const ProblemSizes& sizes,
                                             bool stored = true);

/// The same for `problem`: whether the matrix to precondition is stored.
PreconditionedProblem preconditioned_problem(const Request& request, const Problem& problem);

/// The preconditioner that `asked` means for `problem`. Throws `InvalidArgument` for a name or an
/// option that the table does not know.
PreconditionerPlan plan_preconditioner(const PreconditionerRequest& asked,
                                       const PreconditionedProblem& problem);

/// The same for `problem`; none where the problem brings its own.
PreconditionerPlan plan_preconditioner(const Request& request, const Problem& problem);

/// How reports name the preconditioner of a solve.
std::string describe_preconditioner(const Request& request, const Problem& problem);

}  // namespace heddle::detail
