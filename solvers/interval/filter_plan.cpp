#include <algorithm>
#include <cmath>
#include <heddle/solvers/interval/filter_plan.hpp>
#include <limits>
#include <numbers>

namespace heddle::detail {
namespace {

constexpr double kMinDegree = 8;
constexpr double kDegreeRatio = 1.15;  // of successive degrees that are tried

constexpr double kReach = 3;  // times 1/d: angles beyond which F is below a tenth
constexpr double kColumnsPerPair = 1.45;
constexpr double kFurtherBlocks = 5;
constexpr double kSafety = 2;  // standard deviations of the estimated number of eigenvalues

constexpr double kPerColumn = 4;  // per row and pair of columns, orthonormalisation
constexpr double kPerSmall = 6 * kPerEigenproblem;  // times m³: tests of the basis

}  // namespace

double expected_columns(const SpectralDensity& density, const AngleRange& range, double degree,
                        Index block) {
  const ChebyshevInterval spectrum{density.lower(), density.upper()};
  const double reach = kReach / degree;
  const EigenvalueCount near =
      density.count(spectrum.at(range.to + reach), spectrum.at(range.from - reach));
  return kColumnsPerPair * (std::max(near.count, 0.0) + kSafety * near.deviation) +
         kFurtherBlocks * static_cast<double>(block);
}

FilterPlan plan_filter(const SpectralDensity& density, const AngleRange& range,
                       const FilterLimits& limits) {
  const auto n = static_cast<double>(limits.n);
  const auto most = static_cast<double>(limits.most_columns);
  FilterPlan best{.operations = std::numeric_limits<double>::infinity()};
  for (double d = kMinDegree; d <= kMaxFilterDegree; d = std::ceil(kDegreeRatio * d)) {
    const double m = std::min(expected_columns(density, range, d, limits.block), n);
    const double operations = kPerProduct * n * d * m + kPerColumn * n * m * m +
                              kPerSmall * limits.small_cost * m * m * m;
    const bool fits = m <= most;
    if (fits && operations < best.operations) {
      best = {static_cast<Index>(d), static_cast<Index>(std::ceil(m)), operations};
    }
  }
  if (best.degree > 0) return best;
  constexpr auto d = static_cast<double>(kMaxFilterDegree);
  return {kMaxFilterDegree, limits.most_columns, kPerProduct * n * d * most, false};
}

}  // namespace heddle::detail
