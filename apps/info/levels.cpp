#include <fmt/format.h>

#include <heddle/apps/info/levels.hpp>
#include <heddle/drivers/input.hpp>
#include <heddle/drivers/matrix_checks.hpp>
#include <heddle/drivers/near_null.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

namespace heddle::apps {

std::vector<OperatorLevel> inspect_levels(HostContext& context, const std::string& name, Matrix A,
                                          Block coordinates) {
  Problem problem{.A = std::move(A), .coordinates = std::move(coordinates)};
  const PreconditionerKind& kind = preconditioner_table().get("multigrid");
  PreconditionerOptions options = kind.options();
  try {
    detail::check_shape(problem.A, false);
    detail::check_symmetric(context, ProblemPart::matrix, problem.A);
    detail::prepare_near_null(context, problem);
    options.set_near_null(detail::near_null_of(problem));
    return kind.make<double>(context, problem.A.view(), options).get()->hierarchy();
  } catch (const ProblemError& error) {
    throw InvalidArgument(fmt::format("{}: {}", name, error.message()));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace heddle::apps
