#include <fmt/format.h>

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/inspect/resident.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_survey.hpp>

namespace heddle::detail {
namespace {

/// Whether squares of entries up to this size stay in the range of the precision.
bool is_moderate(double largest, Precision precision) {
  return moderating_exponent(largest, precision) == 0;
}

}  // namespace

template <Scalar T, class Ctx>
CsrSurvey inspected(Ctx& context, const ResidentMatrix<T, Ctx>& A, ProblemPart part,
                    bool any_shape) {
  const CsrView<T, typename Ctx::Space> view = A.view();
  check_csr_shape(view.rows, view.cols, view.nnz);
  const CsrSurvey found = survey(context, view);
  if (found.invalid_row >= 0) {
    throw ProblemError(part,
                       fmt::format("row {} is not in compressed sparse rows: offsets must not "
                                   "fall, columns must ascend and lie in 0 to {}",
                                   found.invalid_row, view.cols - 1));
  }
  if (!any_shape && found.asymmetry > kSymmetryTolerance * found.largest) {
    const std::string_view what = kComplex<T>
                                      ? "Hermitian: entries (i, j) and the conjugates of (j, i)"
                                      : "symmetric: entries (i, j) and (j, i)";
    throw ProblemError(
        part, fmt::format("the matrix is not {} differ by up to {:g}, the largest entry is {:g}",
                          what, found.asymmetry, found.largest));
  }
  return found;
}

template <Scalar T, class Ctx>
Finding inspect(Ctx& context, HostContext& host, const ResidentProblem<T, Ctx>& problem,
                const Request& request, Facts& facts) {
  Finding finding;
  const auto look = [&](const ResidentMatrix<T, Ctx>& A, ProblemPart part, bool any_shape) {
    if (!A.is_stored()) return;
    const CsrSurvey found = inspected(context, A, part, any_shape);
    if (part != ProblemPart::preconditioner && !is_moderate(found.largest, request.precision)) {
      finding = {part, fmt::format("the largest entry of the matrix is {:g}", found.largest)};
    } else if (part == ProblemPart::mass && !(found.least_diagonal > 0)) {
      finding = {part, fmt::format("the smallest diagonal entry of the mass matrix is {:g}",
                                   found.least_diagonal)};
    }
    if (part == ProblemPart::mass) facts.diagonal_mass = found.diagonal;
  };
  look(problem.A, ProblemPart::matrix, problem.normal_equations);
  if (facts.A_transposed.given) look(*problem.A_transposed, ProblemPart::matrix, true);
  if (problem.preconditioner) look(*problem.preconditioner, ProblemPart::preconditioner, true);
  if (problem.B) look(*problem.B, ProblemPart::mass, false);
  facts.infinite_eigenvalues = 0;
  find_near_null(host, problem.coordinates, facts);
  return finding;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                             \
  template CsrSurvey inspected(Ctx&, const ResidentMatrix<T, Ctx>&, ProblemPart, bool);        \
  template Finding inspect(Ctx&, HostContext&, const ResidentProblem<T, Ctx>&, const Request&, \
                           Facts&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
