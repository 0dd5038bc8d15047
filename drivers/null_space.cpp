#include <fmt/format.h>

#include <heddle/drivers/null_space.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::detail {

void inspect_null_space(HostContext& context, Problem& problem, const Request& request) {
  problem.null_space.reset();
  const Matrix& A = problem.A;
  const bool smallest_end = is_eigensolver(request.method) && problem.rhs.cols() == 0 &&
                            request.which == Which::smallest && !request.interval &&
                            !problem.normal_equations && problem.constraints.cols() == 0;
  if (!smallest_end || request.nev < 1 || !A.is_stored() || A.rows() != A.cols()) return;
  const std::vector<double>& sizes = problem.null_vector_sizes;
  if (!sizes.empty() && std::ssize(sizes) != A.rows()) {
    throw ProblemError(ProblemPart::matrix,
                       fmt::format("the matrix has order {}, null_vector_sizes has {} numbers",
                                   A.rows(), sizes.size()));
  }
  GraphNullSpace found = graph_null_space<double>(context, A.view(), request.nev, sizes);
  if (found.dimension == 0) return;
  problem.null_space = std::make_shared<const GraphNullSpace>(std::move(found));
}

bool all_known(const Request& request, const ProblemSizes& sizes) {
  return is_eigensolver(request.method) && sizes.null_vectors >= request.nev;
}

}  // namespace heddle::detail
