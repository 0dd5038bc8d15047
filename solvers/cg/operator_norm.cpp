#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/operator_norm.hpp>
#include <limits>

namespace heddle::detail {

template <Scalar T, class Ctx>
auto OperatorNorm<T, Ctx>::check_least_rayleigh_quotient(double least, Index m) const
    -> std::optional<Stop> {
  const double epsilon = std::numeric_limits<RealOf<T>>::epsilon();
  const double rounding =
      10 * static_cast<double>(m) * epsilon * std::max({-least, rayleigh_, value()});
  if (!std::isfinite(least)) {
    return Stop{SolveStatus::breakdown, "products with A are not finite"};
  }
  if (least < -rounding && rayleigh_ == 0) {
    return Stop{SolveStatus::indefinite,
                "A is not positive definite: p'Ap < 0 for the first directions p; if A is negative "
                "definite, (-A) X = -B has the same solution and a positive definite matrix"};
  }
  if (least < -rounding) {
    return Stop{SolveStatus::indefinite, "A is not positive definite: p'Ap < 0 was met"};
  }
  return std::nullopt;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class OperatorNorm<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
