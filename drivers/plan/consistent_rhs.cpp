#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/plan/consistent_rhs.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// The norms of a column b and of its part along null vectors. `rounding`: whether the part is
/// nothing but rounding.
struct Parts {
  double b = 0;
  double along = 0;
  bool rounding = true;
};

/// Subtracts from column j of B its part along the null vectors, which have no row in common.
Parts subtract_part(const GraphNullSpace& found, BlockView<double, HostSpace> B, Index j) {
  const double most = 10 * std::sqrt(static_cast<double>(B.rows())) * kEpsilon;
  std::vector<double> sums(static_cast<std::size_t>(found.dimension)), sizes(sums), squares(sums);
  Parts parts;
  for (Index i = 0; i < B.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    parts.b = std::hypot(parts.b, B(i, j));
    if (found.vector[row] < 0) continue;
    const auto k = static_cast<std::size_t>(found.vector[row]);
    const double term = found.entries[row] * B(i, j);
    sums[k] += term;
    sizes[k] += std::abs(term);
    squares[k] += found.entries[row] * found.entries[row];
  }
  for (std::size_t k = 0; k < sums.size(); ++k) {
    parts.rounding &= std::abs(sums[k]) <= most * sizes[k];
    parts.along = std::hypot(parts.along, sums[k] / std::sqrt(squares[k]));
  }
  for (Index i = 0; i < B.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (found.vector[row] < 0) continue;
    const auto k = static_cast<std::size_t>(found.vector[row]);
    B(i, j) -= sums[k] / squares[k] * found.entries[row];
  }
  return parts;
}

/// Sets columns to zero of which subtraction has left rounding errors only.
void clear_rounding(BlockView<double, HostSpace> B, Index j, double size) {
  double norm = 0;
  for (Index i = 0; i < B.rows(); ++i) norm = std::hypot(norm, B(i, j));
  if (norm > 10 * kEpsilon * size) return;
  for (Index i = 0; i < B.rows(); ++i) B(i, j) = 0;
}

/// Parts above this share of the tolerance leave too little for the other residuals.
constexpr double kMostShare = 0.9;

}  // namespace

ConsistentRhs::ConsistentRhs(HostContext& context, const Block& rhs, const Facts& facts,
                             const Request& request)
    : asked_(request.project_rhs), known_(facts.null_space != nullptr) {
  if (is_eigensolver(request.method) || !known_) return;
  MultiVector<double, HostSpace> B(context, rhs.rows(), rhs.cols());
  copy<double>(context, rhs.view(), B.view());
  bool any = false;
  for (Index j = 0; j < B.cols(); ++j) {
    const Parts parts = subtract_part(*facts.null_space, B.view(), j);
    const bool absolute = request.linear_criterion == LinearCriterion::absolute;
    const double limit = tolerance_of(request) * (absolute ? 1 : parts.b);
    any |= !parts.rounding;
    if (parts.along <= kMostShare * limit) share_ = std::max(share_, parts.along / limit);
    parts_.push_back(parts.b > 0 ? parts.along / parts.b : 0);
    limits_.push_back(parts.b > 0 ? limit / parts.b : 0);
    clear_rounding(B.view(), j, parts.b);
  }
  if (any) {
    rhs_ = Block(std::move(B));
  } else {
    parts_.clear();
  }
}

double ConsistentRhs::tolerance(const Request& request) const noexcept {
  if (parts_.empty() || asked_) return request.tolerance;
  return tolerance_of(request) * std::sqrt(1 - share_ * share_);
}

void ConsistentRhs::report(Solution& solution) const {
  if (asked_ && !known_) solution.reason += "; project_rhs: no null vector of A is known";
  if (parts_.empty()) return;
  const double largest = *std::max_element(parts_.begin(), parts_.end());
  if (asked_) {
    solution.reason += fmt::format(
        "; a part of {:.1e} |b| along its null vectors was removed from b, as asked", largest);
    return;
  }
  bool inconsistent = false;
  for (std::size_t j = 0; j < parts_.size(); ++j) {
    double& residual = solution.residuals[j];
    residual = std::hypot(residual, parts_[j]);
    if (residual <= limits_[j]) continue;
    solution.converged[j] = false;
    inconsistent = true;
  }
  if (!inconsistent) return;
  if (solution.status == SolveStatus::converged) solution.status = SolveStatus::breakdown;
  solution.reason = fmt::format(
      "A X = B has no solution: A is singular, and b has a part of {:.1e} |b| along its null "
      "vectors; x solves the system without this part, which project_rhs: true asks for; without "
      "it, {}",
      largest, solution.reason);
}

}  // namespace heddle::detail
