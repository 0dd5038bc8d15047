#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/inspect/inspect.hpp>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/drivers/inspect/null_space.hpp>
#include <heddle/drivers/inspect/regular_pencil.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>

namespace heddle::detail {
namespace {

void inspect_mass(HostContext& context, const Matrix& B, Facts& facts) {
  if (!B.is_stored()) return;
  facts.diagonal_mass = is_diagonal(B.distributed_view());
  if (facts.infinite_eigenvalues) return;
  check_symmetric(context, ProblemPart::mass, B);
  facts.infinite_eigenvalues = null_space_of_mass<double>(context, B.view());
}

/// Nothing is asked of a geometric stiffness but that it is symmetric and not zero.
void inspect_geometric_stiffness(HostContext& context, const Matrix& B, Facts& facts) {
  facts.infinite_eigenvalues = 0;  // those that are infinite are not counted
  if (!B.is_stored()) return;
  check_symmetric(context, ProblemPart::geometric_stiffness, B);
  if (B.largest() > 0) return;
  throw ProblemError(ProblemPart::geometric_stiffness,
                     "the geometric stiffness is zero, so there is no load factor");
}

}  // namespace

void inspect(HostContext& context, const Problem& problem, const Request& request, Facts& facts,
             const Monitor& monitor) {
  const Matrix& A = problem.A;
  if (facts.buckling) {
    inspect_geometric_stiffness(context, *problem.B, facts);
  } else if (problem.B) {
    inspect_mass(context, *problem.B, facts);
  }
  const bool whole = A.is_stored() && !facts.own_rows;
  if (whole && !facts.normal_equations) check_symmetric(context, ProblemPart::matrix, A);
  if (whole && facts.B.stored && !facts.buckling) {
    check_regular(context, A.view(), problem.B->view(), facts.infinite_eigenvalues.value_or(0) > 0,
                  monitor);
  }
  facts.null_space = known_null_space(context, problem, facts, request);
  find_near_null(context, problem.coordinates, facts);
  find_nodes(context, request, A, facts);
}

}  // namespace heddle::detail
