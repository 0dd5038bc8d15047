#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/solvers/iteration/accurate_values.hpp>
#include <limits>
#include <type_traits>

namespace heddle::detail {
namespace {

/// The share of a value from which rounding is removed. Below it no criterion asks for more.
constexpr double kFrom = 1e-9;

/// A gap counts where it is this many times the rounding errors of the values that it lies between.
constexpr double kClearGap = 100;

/// A and its transpose may differ by rounding errors, which residuals of Aᵀ then have in addition
/// to those of A. Both together are at most twice as large, and count squared.
constexpr double kAsymmetry = 4;

template <Scalar T>
constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace

template <Scalar T, class Ctx>
bool needs_accuracy(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const ErrorNorms<T, Ctx>& norms, SmallView<double, typename Ctx::Space> sizes_A,
                    SmallView<double, HostSpace> scratch, std::span<const double> values) {
  if constexpr (std::is_same_v<Ctx, HostContext>) {
    const bool stored =
        problem.A->stored() != nullptr && (problem.B == nullptr || problem.B->stored() != nullptr);
    if (!stored || problem.constraints.cols() > 0) return false;
    fetch(context, sizes_A, scratch);
    for (Index j = 0; j < scratch.rows; ++j) {
      const double rounding =
          EigenConvergence::kRoundingOfValues * kEpsilon<T> * norms.size_A(scratch(j, 0), 0);
      if (rounding > kFrom * std::abs(values[static_cast<std::size_t>(j)])) return true;
    }
  }
  return false;
}

template <Scalar T, class Ctx>
void take_accurate_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                             ConstBlockView<T, typename Ctx::Space> V, const double* theta,
                             BlockView<T, typename Ctx::Space> R) {
  if constexpr (std::is_same_v<Ctx, HostContext>) {
    const CsrView<T, HostSpace>* B = problem.B != nullptr ? problem.B->stored() : nullptr;
    accurate_residual<T>(context, *problem.A->stored(), B, V, theta, R);
  }
}

template <Scalar T>
double accurate_error(const AccurateParts& pair, const ValueErrors& errors) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!(std::abs(pair.lambda) > errors.rounding)) return kInfinity;
  // The gap for which `ErrorBounds::change` of the spread is the bound.
  const double gap =
      pair.bound > 0 ? pair.spread / pair.bound * pair.spread - pair.bound : kInfinity;
  if (!(gap > kClearGap * std::max(pair.noise, errors.rounding))) return kInfinity;
  const double moved = std::abs(pair.lambda - pair.theta);  // xᵀr/xᵀBx
  const double sizes = std::abs(pair.lambda) + moved * pair.size_B + pair.dot;
  const double rounding = EigenConvergence::kRoundingOfValues * kEpsilon<T> * sizes +
                          kEpsilon<double> * errors.rounding;
  return std::max(kAsymmetry * pair.bound + pair.displacement + rounding, errors.placing);
}

template double accurate_error<float>(const AccurateParts&, const ValueErrors&);
template double accurate_error<double>(const AccurateParts&, const ValueErrors&);

#define HEDDLE_INSTANTIATE(T, Ctx)                                                             \
  template bool needs_accuracy(Ctx&, const EigenProblem<T, Ctx>&, const ErrorNorms<T, Ctx>&,   \
                               SmallView<double, typename Ctx::Space>,                         \
                               SmallView<double, HostSpace>, std::span<const double>);         \
  template void take_accurate_residuals(Ctx&, const EigenProblem<T, Ctx>&,                     \
                                        ConstBlockView<T, typename Ctx::Space>, const double*, \
                                        BlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
