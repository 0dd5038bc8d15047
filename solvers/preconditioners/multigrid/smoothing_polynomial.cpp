#include <array>
#include <cassert>
#include <cstddef>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>

namespace heddle::detail {
namespace {

using Coefficients = std::vector<double>;

/// The weights of the corrections of each step, by degree. They are those that minimise the bound
/// on the convergence of a V-cycle.
constexpr std::array<std::array<double, kMostSmoothingDegree>, kMostSmoothingDegree> kWeights{{
    {1.12500000000000},
    {1.02387287570313, 1.26408905371085},
    {1.00842544782028, 1.08867839208730, 1.33753125909618},
    {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000},
    {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682},
}};

/// sum += factor·terms, sum long enough.
void add(double factor, const Coefficients& terms, Coefficients& sum) {
  for (std::size_t i = 0; i < terms.size(); ++i) sum[i] += factor * terms[i];
}

}  // namespace

Coefficients smoothing_polynomial(int degree, double upper_bound) {
  assert(degree >= 1 && degree <= kMostSmoothingDegree && upper_bound > 0);
  const auto& weights = kWeights[static_cast<std::size_t>(degree - 1)];
  const auto length = static_cast<std::size_t>(degree + 1);
  // All vectors of the recurrence are polynomials in A times the right-hand side.
  Coefficients solution(length), residual(length), step(length);
  residual[0] = 1;
  step[0] = 4 / (3 * upper_bound);
  for (int i = 1;; ++i) {
    add(weights[static_cast<std::size_t>(i - 1)], step, solution);
    if (i == degree) break;
    for (std::size_t j = 1; j < length; ++j) residual[j] -= step[j - 1];  // r ← r − A z
    Coefficients next(length);
    add(static_cast<double>(2 * i - 1) / (2 * i + 3), step, next);
    add(static_cast<double>(8 * i + 4) / (2 * i + 3) / upper_bound, residual, next);
    step = next;
  }
  solution.resize(static_cast<std::size_t>(degree));
  return solution;
}

}  // namespace heddle::detail
