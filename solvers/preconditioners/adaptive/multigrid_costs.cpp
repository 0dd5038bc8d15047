#include <algorithm>
#include <cmath>
#include <heddle/solvers/preconditioners/adaptive/multigrid_costs.hpp>

namespace heddle::detail {
namespace {

constexpr double kCycle = 10.5;     // products per cycle of degree 3
constexpr double kOther = 4;        // work of an iteration of block CG without the preconditioner
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
// One column has hardly any work apart from its products.
constexpr double kStepOfOneColumn = 1.5;
constexpr double kStepsOfFactor = 150;    // with the diagonal, from which on one without fill pays
constexpr double kProductOfFactor = 5e5;  // bytes of a product up to which it may
// Time in products of A with one column, as `ShiftedInverse` counts them: of a step with one
// column, and of a product of several per column. Calls and waits of each are in entries.
constexpr double kTimeOfStep = 1.6;
constexpr double kEntriesOfStep = 3e4;
constexpr double kTimePerColumn = .45;
constexpr double kEntriesOfProduct = 9e4;
constexpr double kEntriesOfRow = 5;
// Of a complete factor: products with it per column of a solve, and what it costs apart from its
// operations.
constexpr double kIterationsOfFactor = 3;
constexpr double kCopiesOfFactor = 27;

}  // namespace

MultigridCosts::MultigridCosts(Index rows, Index nnz, Index block, std::size_t scalar_size,
                               const SetupBytes& setup) noexcept
    : rows_(static_cast<double>(rows)),
      entries_(static_cast<double>(nnz)),
      block_(static_cast<double>(block)) {
  const auto scalar = static_cast<double>(scalar_size);
  const double matrix = entries_ * (sizeof(double) + sizeof(std::int32_t));
  product_ = entries_ * (scalar + sizeof(std::int32_t)) + 4 * scalar * rows_ * block_;
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

double MultigridCosts::chebyshev_products(double root) const noexcept {
  return kChebyshevIterations * root * (kFirstDegree + 1 + kOther);
}

double MultigridCosts::multigrid_products() const noexcept {
  return kLinearIterations * (kCycle + kOther) + setup_;
}

bool MultigridCosts::pays_for(double root) const noexcept {
  return chebyshev_products(root) > multigrid_products();
}

bool MultigridCosts::diagonal_suffices(double root) const noexcept {
  const double chebyshev = kLeastIterations * (kFirstDegree + 1 + kOther);
  return kDiagonalIterations * root * (1 + kOther) < chebyshev;
}

bool MultigridCosts::pays_after(double steps) const noexcept {
  return kStepOfOneColumn * steps > multigrid_products();
}

bool MultigridCosts::incomplete_factor_pays_after(double steps) const noexcept {
  return steps > kStepsOfFactor && product_ < kProductOfFactor;
}

double MultigridCosts::columns_of_entries(double entries) const noexcept {
  return entries / (entries_ + kEntriesOfRow * rows_);
}

double MultigridCosts::columns_of_steps(double steps) const noexcept {
  return steps * (kTimeOfStep + columns_of_entries(kEntriesOfStep));
}

double MultigridCosts::columns_of_products(double products) const noexcept {
  if (one_column()) return columns_of_steps(products / kStepOfOneColumn);
  return products * (kTimePerColumn * block_ + columns_of_entries(kEntriesOfProduct));
}

double MultigridCosts::columns_of_chebyshev(double root) const noexcept {
  return columns_of_products(chebyshev_products(root));
}

double MultigridCosts::columns_of_multigrid() const noexcept {
  return columns_of_products(multigrid_products());
}

double MultigridCosts::columns_of_factor() const noexcept {
  return kIterationsOfFactor * block_ + kCopiesOfFactor;
}

}  // namespace heddle::detail
