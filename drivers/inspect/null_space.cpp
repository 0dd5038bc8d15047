#include <fmt/format.h>

#include <cmath>
#include <heddle/drivers/inspect/null_space.hpp>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// More null vectors than this are not sought for a linear system.
constexpr Index kMostOfLinearSystem = 20;

/// Whether null vectors of A concern `request`, see `may_concern_null_space`, for this problem.
bool concerns_null_space(const Request& request, const Facts& facts) {
  if (facts.normal_equations || facts.A.rows != facts.A.cols) return false;
  if (facts.rhs.cols > 0) return facts.rhs.rows == facts.A.rows;
  if (!may_concern_null_space(request)) return false;
  return is_eigensolver(request.method) && facts.constraints.cols == 0 && request.nev >= 1;
}

/// The constant vector if it is a null vector of A to rounding, such as of a Neumann problem by
/// finite elements with positive entries off the diagonal, which the graph does not show.
GraphNullSpace constant_null_vector(CsrView<double, HostSpace> A) {
  for (Index i = 0; i < A.rows; ++i) {
    double sum = 0, size = 0;
    for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      sum += A.values[k];
      size += std::abs(A.values[k]);
    }
    const auto terms = static_cast<double>(A.row_offsets[i + 1] - A.row_offsets[i]);
    const double rounding = 10 * std::sqrt(terms) * std::numeric_limits<double>::epsilon();
    if (!(std::abs(sum) <= rounding * size)) return {};
  }
  const auto n = static_cast<std::size_t>(A.rows);
  return {1, std::vector<std::int32_t>(n, 0), std::vector<double>(n, 1.0), false};
}

}  // namespace

bool may_concern_null_space(const Request& request) {
  if (!is_eigensolver(request.method)) return request.preconditioner.type == "auto";
  return request.which == Which::smallest && !request.interval && !request.sigma;
}

std::shared_ptr<const GraphNullSpace> known_null_space(HostContext& context, const Problem& problem,
                                                       const Facts& facts, const Request& request) {
  const Matrix& A = problem.A;
  if (!A.is_stored() || facts.own_rows || !concerns_null_space(request, facts)) return nullptr;
  const std::vector<double>& sizes = problem.null_vector_sizes;
  if (!sizes.empty() && std::ssize(sizes) != A.rows()) {
    throw ProblemError(ProblemPart::matrix,
                       fmt::format("the matrix has order {}, null_vector_sizes has {} numbers",
                                   A.rows(), sizes.size()));
  }
  const bool linear = facts.rhs.cols > 0;
  const Index most = linear ? kMostOfLinearSystem : request.nev;
  GraphNullSpace found = graph_null_space<double>(context, A.view(), most, sizes);
  if (linear && !(found.dimension > 0 && found.complete)) found = constant_null_vector(A.view());
  if (found.dimension == 0) return nullptr;
  return std::make_shared<const GraphNullSpace>(std::move(found));
}

}  // namespace heddle::detail
