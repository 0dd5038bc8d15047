#include <algorithm>
#include <cmath>
#include <heddle/solvers/preconditioners/adaptive/cg_coefficients.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr double kAccuracy = 1e-12;  // of eigenvalues, relative
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The eigenvalues below x of a tridiagonal matrix, by the signs of its pivots (Sylvester's law of
/// inertia). squares[k]: that of the entry between diagonal[k] and diagonal[k − 1].
Index eigenvalues_below(double x, const std::vector<double>& diagonal,
                        const std::vector<double>& squares) {
  Index below = 0;
  double pivot = 1;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    pivot = diagonal[k] - x - squares[k] / pivot;
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    if (pivot < 0) ++below;
  }
  return below;
}

/// Eigenvalue `index`, ascending, of a positive definite matrix with eigenvalues of at most `most`,
/// by bisection. 0 where rounding hides it.
double eigenvalue(const std::vector<double>& diagonal, const std::vector<double>& squares,
                  Index index, double most) {
  double lower = 0;
  double upper = most;
  while (upper - lower > kAccuracy * upper) {
    const double middle = (lower + upper) / 2;
    if (upper < std::numeric_limits<double>::epsilon() * most) return 0;
    (eigenvalues_below(middle, diagonal, squares) > index ? upper : lower) = middle;
  }
  return upper;
}

}  // namespace

double ConditionEstimate::expected_root() const noexcept {
  constexpr double kStillGrowing = 1.6;
  const double root = std::sqrt(whole);
  return root > kStillGrowing * std::sqrt(half) ? 1.5 * root : root;
}

ConditionEstimate CgCoefficients::estimate() const {
  const Index m = steps();
  if (m == 0) return {kInfinity, kInfinity};
  return {condition((m + 1) / 2), condition(m)};
}

/// The condition number of the leading m×m part.
double CgCoefficients::condition(Index m) const {
  std::vector<double> diagonal(static_cast<std::size_t>(m)), squares(diagonal.size());
  double largest = 0;  // Gershgorin
  double before = 0;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    diagonal[k] = 1 / alpha_[k] + (k > 0 ? beta_[k - 1] / alpha_[k - 1] : 0);
    squares[k] = k > 0 ? beta_[k - 1] / (alpha_[k - 1] * alpha_[k - 1]) : 0;
    const double after = k + 1 < diagonal.size() ? std::sqrt(beta_[k]) / alpha_[k] : 0;
    largest = std::max(largest, diagonal[k] + before + after);
    before = after;
  }
  const double least = eigenvalue(diagonal, squares, 0, largest);
  return least > 0 ? eigenvalue(diagonal, squares, m - 1, largest) / least : kInfinity;
}

}  // namespace heddle::detail
