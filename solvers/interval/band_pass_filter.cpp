#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/band_pass_filter.hpp>
#include <numbers>
#include <utility>

namespace heddle::detail {
namespace {

/// A narrower interval is widened to this many d-th parts of the unit angle. Its kernel is wider by
/// an order of magnitude, so the widening changes nothing but rounding errors of the coefficients.
constexpr double kLeastWidth = 0.5;

}  // namespace

template <Scalar T, class Ctx>
BandPassFilter<T, Ctx>::BandPassFilter(Ctx& context, LinearOperator<T, Ctx>& A, Index block,
                                       std::function<bool()> stop)
    : LinearOperator<T, Ctx>(A.row_range(), A.row_range()),
      A_(&A),
      recurrence_(context, A.rows(), block),
      stop_(std::move(stop)) {}

template <Scalar T, class Ctx>
void BandPassFilter<T, Ctx>::set(const ChebyshevInterval& spectrum, const AngleRange& range,
                                 Index degree) {
  spectrum_ = spectrum;
  const double half = 0.5 * std::max(range.width(), kLeastWidth / static_cast<double>(degree));
  const double from = std::max(range.middle() - half, 0.0);
  const double to = std::min(range.middle() + half, std::numbers::pi);
  coefficients_ =
      band_pass_coefficients(spectrum, spectrum.at(to), spectrum.at(from), degree, Damping::kaiser);
  const double middle = series_value(coefficients_, range.middle());
  for (double& coefficient : coefficients_) coefficient /= middle;
  level_ = std::min(
      {1.0, series_value(coefficients_, range.from), series_value(coefficients_, range.to)});
}

template <Scalar T, class Ctx>
void BandPassFilter<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const auto stop = [this] { return stopped_ = stopped_ || stop_(); };
  apply_series<T, Ctx>(context, recurrence_, *A_, spectrum_, coefficients_, X, Y, stop);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BandPassFilter<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
