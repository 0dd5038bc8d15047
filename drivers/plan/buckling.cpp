#include <heddle/drivers/plan/buckling.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <utility>

namespace heddle::detail {
namespace {

Matrix negative(HostContext& context, const Matrix& A) {
  HostCsrMatrix<double> copy = convert<double>(context, A.view());
  for (Index k = 0; k < copy.nnz(); ++k) copy.values()[k] = -copy.values()[k];
  return Matrix(std::move(copy));
}

}  // namespace

Problem buckling_pencil(HostContext& context, Problem problem) {
  if (!problem.geometric_stiffness) return problem;
  if (problem.B) {
    throw ProblemError(ProblemPart::mass,
                       "load factors of K x = -lambda K_g x have no mass matrix: leave it out, or "
                       "the geometric stiffness");
  }
  const Matrix& geometric = *problem.geometric_stiffness;
  problem.B = geometric.is_stored() ? negative(context, geometric) : geometric;
  return problem;
}

Request load_factor_request(Request request) {
  if (!request.side && !request.sigma) request.side = Side::above;
  if (!request.sigma) request.sigma = 0;
  return request;
}

}  // namespace heddle::detail
