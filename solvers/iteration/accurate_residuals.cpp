#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/solvers/iteration/accurate_residuals.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <limits>
#include <span>
#include <type_traits>

namespace heddle::detail {
namespace {

/// The error of entries of A and B relative to them: two roundings.
constexpr double kOfEntries = std::numeric_limits<double>::epsilon();

/// Rounding of a sum of products relative to the sum of their absolute values.
constexpr double kOfSums =
    EigenConvergence::kRoundingOfValues * std::numeric_limits<double>::epsilon();

/// The largest relative error of xᵀBx.
constexpr double kTwoDigits = 0.01;

/// Whether the entries of matrices of T are those of the given matrix, not rounded ones.
template <Scalar T>
constexpr bool kHasEntries = !std::is_same_v<T, float>;

}  // namespace

template <Scalar T, class Ctx>
bool has_accurate_residuals(const EigenProblem<T, Ctx>& problem) {
  if constexpr (kHasEntries<T>) {
    return problem.A->stored() != nullptr &&
           (problem.B == nullptr || problem.B->stored() != nullptr);
  }
  return false;
}

template <Scalar T, class Ctx>
void accurate_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                        ConstBlockView<T, typename Ctx::Space> V,
                        ConstSmallView<double, HostSpace> theta,
                        BlockView<T, typename Ctx::Space> R) {
  if constexpr (kHasEntries<T>) {
    const std::span<const double> values(theta.data, static_cast<std::size_t>(theta.rows));
    accurate_residual<T>(context, *problem.A->stored(),
                         problem.B == nullptr ? nullptr : problem.B->stored(), V, values, R);
  }
}

double accurate_rounding(double lambda, double theta, double residual, const RowSizes& rows) {
  if (!(kOfSums * rows.B <= kTwoDigits)) return std::numeric_limits<double>::infinity();
  const double largest = std::max(std::abs(lambda), std::abs(theta));
  return kOfEntries * (rows.sum + largest * rows.B) +
         kOfSums * (largest + std::sqrt(rows.B) * residual + rows.B * std::abs(lambda - theta));
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                               \
  template bool has_accurate_residuals(const EigenProblem<T, Ctx>&);             \
  template void accurate_residuals(                                              \
      Ctx&, const EigenProblem<T, Ctx>&, ConstBlockView<T, typename Ctx::Space>, \
      ConstSmallView<double, HostSpace>, BlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
