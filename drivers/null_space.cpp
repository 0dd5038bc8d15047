#include <fmt/format.h>

#include <cmath>
#include <heddle/drivers/null_space.hpp>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// More null vectors than this are not sought for a linear system.
constexpr Index kMostOfLinearSystem = 20;

/// Whether null vectors of A concern `request`, see `may_concern_null_space`, for this problem.
bool concerns_null_space(const Request& request, const Problem& problem) {
  if (problem.normal_equations || problem.A.rows() != problem.A.cols()) return false;
  if (!may_concern_null_space(request)) return false;
  if (problem.rhs.cols() > 0) {
    return problem.rhs.rows() == problem.A.rows() && !problem.preconditioner &&
           request.preconditioner.type == "auto";
  }
  return is_eigensolver(request.method) && problem.constraints.cols() == 0 && request.nev >= 1;
}

/// Whether zᵀb = 0, but for rounding, for the null vectors z and all right-hand sides b. Then A X =
/// B has a solution.
bool is_consistent(const GraphNullSpace& found, ConstBlockView<double, HostSpace> B) {
  const double rounding =
      10 * std::sqrt(static_cast<double>(B.rows())) * std::numeric_limits<double>::epsilon();
  for (Index j = 0; j < B.cols(); ++j) {
    std::vector<double> sums(static_cast<std::size_t>(found.dimension)), sizes(sums.size());
    for (Index i = 0; i < B.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (found.vector[row] < 0) continue;
      const auto k = static_cast<std::size_t>(found.vector[row]);
      const double term = found.entries[row] * B(i, j);
      sums[k] += term;
      sizes[k] += std::abs(term);
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      if (!(std::abs(sums[k]) <= rounding * sizes[k])) return false;
    }
  }
  return true;
}

}  // namespace

bool may_concern_null_space(const Request& request) {
  if (!is_eigensolver(request.method)) return request.preconditioner.type == "auto";
  return request.which == Which::smallest && !request.interval;
}

void inspect_null_space(HostContext& context, Problem& problem, const Request& request) {
  problem.null_space.reset();
  const Matrix& A = problem.A;
  if (!A.is_stored() || problem.own_rows || !concerns_null_space(request, problem)) return;
  const std::vector<double>& sizes = problem.null_vector_sizes;
  if (!sizes.empty() && std::ssize(sizes) != A.rows()) {
    throw ProblemError(ProblemPart::matrix,
                       fmt::format("the matrix has order {}, null_vector_sizes has {} numbers",
                                   A.rows(), sizes.size()));
  }
  const bool linear = problem.rhs.cols() > 0;
  const Index most = linear ? kMostOfLinearSystem : request.nev;
  GraphNullSpace found = graph_null_space<double>(context, A.view(), most, sizes);
  if (found.dimension == 0) return;
  if (linear && !(found.complete && is_consistent(found, problem.rhs.view()))) return;
  problem.null_space = std::make_shared<const GraphNullSpace>(std::move(found));
}

bool all_known(const Request& request, const ProblemSizes& sizes) {
  return is_eigensolver(request.method) && sizes.null_vectors >= request.nev;
}

}  // namespace heddle::detail
