#include <algorithm>
#include <cmath>
#include <heddle/solvers/preconditioners/adaptive/multigrid_costs.hpp>

namespace heddle::detail {
namespace {

constexpr double kCycle = 10.5;     // products per cycle of degree 3
constexpr double kOther = 4;        // work of an iteration of block CG beside the preconditioner
constexpr double kMargin = 3;       // of a degree, because the estimates are rough
constexpr double kLateMargin = 10;  // and for the work of the change itself
constexpr double kIterations = 20;  // of LOBPCG with multigrid
constexpr double kIterationsLeft = 10;  // of these when the Ritz values have become small
// Eigenvalue b of a Laplacian is about b^(2/d) times the first one in d dimensions.
constexpr double kGrowthOfRoots = .3;
constexpr double kDegreePerRoot = 1.1;
constexpr double kLinearIterations = 9;       // of block CG with multigrid
constexpr double kChebyshevIterations = .53;  // of block CG with degree 12, per root
constexpr double kLeastIterations = 13;       // of block CG with degree 12
constexpr double kDiagonalIterations = 9;     // of block CG with the diagonal, per root
constexpr double kFirstDegree = 12;
// One column has hardly any work beside its products.
constexpr double kStepOfOneColumn = 1.5;
constexpr double kStepsOfFactor = 150;    // with the diagonal, from which on a factor pays
constexpr double kProductOfFactor = 5e5;  // bytes of a product up to which it may

}  // namespace

MultigridCosts::MultigridCosts(Index rows, Index nnz, Index block, std::size_t scalar_size,
                               const SetupBytes& setup) noexcept
    : block_(static_cast<double>(block)) {
  const auto entries = static_cast<double>(nnz);
  const auto scalar = static_cast<double>(scalar_size);
  const double matrix = entries * (sizeof(double) + sizeof(std::int32_t));
  product_ =
      entries * (scalar + sizeof(std::int32_t)) + 4 * scalar * static_cast<double>(rows) * block_;
  setup_ = (setup.fixed + setup.per_byte * matrix) / std::max(product_, 1.0);
}

double MultigridCosts::least_degree() const noexcept {
  return kCycle + kMargin + setup_ / kIterations;
}

double MultigridCosts::least_degree_within_solve() const noexcept {
  return kCycle + kLateMargin + setup_ / kIterationsLeft;
}

double MultigridCosts::expected_degree(double root) const noexcept {
  return kDegreePerRoot * root / std::pow(std::max(block_, 1.0), kGrowthOfRoots);
}

bool MultigridCosts::pays_for(double root) const noexcept {
  const double chebyshev = kChebyshevIterations * root * (kFirstDegree + 1 + kOther);
  return chebyshev > kLinearIterations * (kCycle + kOther) + setup_;
}

bool MultigridCosts::diagonal_suffices(double root) const noexcept {
  const double chebyshev = kLeastIterations * (kFirstDegree + 1 + kOther);
  return kDiagonalIterations * root * (1 + kOther) < chebyshev;
}

bool MultigridCosts::pays_after(double steps) const noexcept {
  return kStepOfOneColumn * steps > kLinearIterations * (kCycle + kOther) + setup_;
}

bool MultigridCosts::factor_pays_after(double steps) const noexcept {
  return steps > kStepsOfFactor && product_ < kProductOfFactor;
}

}  // namespace heddle::detail
