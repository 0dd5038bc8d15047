#include <fmt/format.h>

#include <heddle/apps/info/levels.hpp>
#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

namespace heddle::apps {

std::vector<OperatorLevel> inspect_levels(HostContext& context, const std::string& name, Matrix A,
                                          Block coordinates) {
  const Problem problem{.A = std::move(A), .coordinates = std::move(coordinates)};
  detail::Facts facts = detail::shape_of(problem, 1);
  const PreconditionerKind& kind = preconditioner_table().get("multigrid");
  PreconditionerOptions options = kind.options();
  try {
    detail::check_square(ProblemPart::matrix, problem.A.rows(), problem.A.cols());
    detail::check_symmetric(context, ProblemPart::matrix, problem.A);
    detail::find_near_null(context, problem.coordinates, facts);
    options.set_near_null(detail::near_null_of(facts));
    const auto made = kind.make<double>(context, problem.A.view(), options);
    return {made->levels().begin(), made->levels().end()};
  } catch (const ProblemError& error) {
    throw InvalidArgument(fmt::format("{}: {}", name, error.message()));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace heddle::apps
