#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/solvers/preconditioners/kind.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::detail {

/// The facts about a problem that the rules of requests depend on.
struct AskedProblem {
  bool pencil = false;
  bool buckling = false;  ///< whether load factors are wanted
  bool normal_equations = false;
  bool constraints = false;     ///< whether there are any
  bool initial_guess = false;   ///< whether there is one
  bool preconditioner = false;  ///< whether the problem brings its own
  /// Of the task, where the method is known.
  std::optional<PreconditionedProblem> preconditioned{};
};

/// The answers for a problem with these facts.
AskedProblem asked_problem(const Request& request, const Facts& facts);

/// How messages call a field of a request, "interval", "sigma" or "normal_equations".
using Naming = std::string (*)(std::string_view name);

/// The name itself.
std::string plain_name(std::string_view name);

/// Checks what can be said of a request without a look at the matrices: each field has a value that
/// its row in `request_fields` accepts, what is not at its default is read by the solver, and
/// fields go with each other and with the parts of the problem. Throws `RequestError` for a field
/// and `ProblemError` for a part.
///
/// `chosen`: whether the caller left the method to heddle. Fields that only tune another method
/// then have no effect. The method of `request` may be `automatic`, which checks what is the same
/// for all methods that it may stand for.
void check_request(const Request& request, const AskedProblem& problem, bool chosen,
                   Naming named = plain_name);

}  // namespace heddle::detail
