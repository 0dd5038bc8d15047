#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev_setup.hpp>
#include <heddle/solvers/preconditioners/padded_width.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>

namespace heddle {
namespace detail {
namespace {

/// `exact` rounded to single precision.
template <class Ctx, class Space = typename Ctx::Space>
ChebyshevSetup<float, Space> in_single(Ctx& context, ChebyshevSetup<double, Space> exact) {
  return {rounded<float>(context, std::move(exact.scaling)),
          convert<float>(context, exact.shifted.view()), exact.upper_bound, exact.middle,
          exact.indefinite};
}

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context,
                                                         DistributedCsrView<T, Space> A, int degree,
                                                         const SpmmOptions& options)
    : ChebyshevPreconditioner(context, detail::prepare_chebyshev<T>(context, A, degree), degree,
                              options) {}

template <Scalar T, class Ctx>
template <std::same_as<double> U>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(
    Ctx& context, DistributedCsrView<std::type_identity_t<U>, Space> A, int degree,
    const SpmmOptions& options)
    : ChebyshevPreconditioner(
          context,
          detail::in_single(context, detail::prepare_chebyshev<double>(context, A, degree)), degree,
          options) {}

template <Scalar T, class Ctx>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context,
                                                         detail::ChebyshevSetup<T, Space> setup,
                                                         int degree, const SpmmOptions& options)
    : Preconditioner<T, Ctx>(row_range(setup.shifted.view()), column_range(setup.shifted.view())),
      automatic_(degree == 0 && !setup.indefinite),
      degree_(detail::first_degree(degree)),
      upper_bound_(setup.upper_bound),
      middle_(setup.middle),
      scaling_(std::move(setup.scaling)),
      shifted_(std::move(setup.shifted)),
      plan_(context, shifted_.view(), options) {}

template <Scalar T, class Ctx>
void ChebyshevPreconditioner<T, Ctx>::reserve(Ctx& context, Index b) {
  if (std::ssize(ratios_) >= b) return;
  ratios_.clear();  // so that a call after `OutOfMemory` begins anew
  const Index width = detail::padded_width<T, Space>(b);
  for (MultiVector<T, Space>* block : {&right_, &odd_, &even_}) {
    *block = MultiVector<T, Space>();
    *block = MultiVector<T, Space>(context, this->rows(), width);
    set_zero(context, block->view());
  }
  norms_ = SmallMatrix<double, Space>(context, width, 1);
  ratios_.resize(static_cast<std::size_t>(width));
}

template <Scalar T, class Ctx>
void ChebyshevPreconditioner<T, Ctx>::set_degree(Index degree) {
  if (automatic_) degree_ = detail::first_degree(static_cast<int>(degree));
}

template <Scalar T, class Ctx>
Index ChebyshevPreconditioner<T, Ctx>::suitable_degree(Ctx& context, ConstBlockView<T, Space> X,
                                                       std::span<const double> energies) {
  if (!automatic_) return 0;
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, b);
  return detail::suitable_degree<T>(context, X, energies, scaling(), upper_bound_, middle_,
                                    kMostDegree,
                                    {odd_.columns(0, 1), right_.columns(0, b), norms_.view(b, 1),
                                     std::span(ratios_.data(), static_cast<std::size_t>(b))});
}

template <Scalar T, class Ctx>
void ChebyshevPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                  BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, b);
  scale_rows<T>(context, scaling(), X, right_.columns(0, b));
  scale_rows<T>(context, scaling(), iterate(context, b), Y);
}

template <Scalar T, class Ctx>
auto ChebyshevPreconditioner<T, Ctx>::scaled_product(Ctx& context, ConstBlockView<double, Space> X,
                                                     ConstSmallView<double, Space> scales)
    -> std::optional<ScaledView<T, Space>> {
  if constexpr (kComplex<T>) {
    return std::nullopt;  // no solve with complex matrices begins in lower precision
  } else {
    const PhaseScope phase(context, Phase::preconditioner);
    const Index b = X.cols();
    reserve(context, b);
    convert<T, double, T>(context, scaling(), X, scales.block(0, 0, b, 1), right_.columns(0, b));
    return ScaledView<T, Space>{iterate(context, b), scaling(), scales.block(0, 1, b, 1)};
  }
}

/// The d-th iterate from the right-hand sides in the first b columns of `right_`, all c times those
/// of the iteration.
template <Scalar T, class Ctx>
ConstBlockView<T, typename Ctx::Space> ChebyshevPreconditioner<T, Ctx>::iterate(Ctx& context,
                                                                                Index b) {
  const Index width =
      detail::padded_width<T, Space>(b);  // columns from b on hold what was there before
  const BlockView<T, Space> x = right_.columns(0, width);
  const auto multiply = [&](double omega, const BlockView<T, Space>& y, double beta, double gamma,
                            double delta, const BlockView<T, Space>& next) {
    plan_.multiply(context, static_cast<RealOf<T>>(-omega / middle_), y,
                   {.beta = static_cast<RealOf<T>>(beta),
                    .gamma = static_cast<RealOf<T>>(gamma),
                    .delta = static_cast<RealOf<T>>(delta),
                    .X = x},
                   next);
  };
  const BlockView<T, Space> y = detail::chebyshev_steps(degree_, x, odd_.columns(0, width),
                                                        even_.columns(0, width), multiply);
  return y.columns(0, b);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ChebyshevPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(Ctx)                                          \
  template ChebyshevPreconditioner<float, Ctx>::ChebyshevPreconditioner( \
      Ctx&, DistributedCsrView<double, Ctx::Space>, int, const SpmmOptions&);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
