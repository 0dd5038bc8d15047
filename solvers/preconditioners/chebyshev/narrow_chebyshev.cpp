#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev_setup.hpp>
#include <heddle/solvers/preconditioners/chebyshev/narrow_chebyshev.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>

namespace heddle {
namespace {

/// Throws for a degree beyond `most`.
int checked_degree(std::string_view type, int degree, int most) {
  if (degree <= most) return degree;
  throw InvalidArgument(fmt::format(
      "chebyshev of degree {}: {} has the digits for degrees up to {}; use degree: auto, or single "
      "or double precision",
      degree, type, most));
}

}  // namespace

template <class V, class Ctx>
NarrowChebyshev<V, Ctx>::NarrowChebyshev(Ctx& context, CsrView<double, Space> A, int degree)
    : NarrowChebyshev(
          context,
          detail::prepare_chebyshev<double>(
              context, A, checked_degree(limits_of(precision_of<V>()).name, degree, kMostDegree),
              V::kRoundoff),
          degree) {}

template <class V, class Ctx>
NarrowChebyshev<V, Ctx>::NarrowChebyshev(Ctx& context, detail::ChebyshevSetup<double, Space> setup,
                                         int degree)
    : Preconditioner<float, Ctx>(setup.shifted.rows(), setup.shifted.rows()),
      automatic_(degree == 0 && !setup.indefinite),
      degree_(detail::first_degree(degree)),
      upper_bound_(setup.upper_bound),
      middle_(setup.middle),
      plan_(context, setup.shifted.own().view(),
            {.scaling = RangeScaling::none, .factor = 1 / setup.middle}),
      columns_(detail::rounded<float>(context, std::move(setup.scaling))) {}

template <class V, class Ctx>
void NarrowChebyshev<V, Ctx>::reserve(Ctx& context, Index b) {
  if (std::ssize(ratios_) >= b) return;
  ratios_.clear();  // so that a call after `OutOfMemory` begins anew
  for (NarrowBlock<V, Space>* block : {&right_, &odd_, &even_}) {
    *block = NarrowBlock<V, Space>();
    *block = NarrowBlock<V, Space>(context, this->rows(), b);
  }
  columns_.reserve(context, b);
  root_ = MultiVector<float, Space>(context, this->rows(), 1);
  ratios_.resize(static_cast<std::size_t>(b));
}

template <class V, class Ctx>
void NarrowChebyshev<V, Ctx>::set_degree(Index degree) {
  if (!automatic_) return;
  degree_ = std::min(detail::first_degree(static_cast<int>(degree)), kMostDegree);
}

template <class V, class Ctx>
Index NarrowChebyshev<V, Ctx>::suitable_degree(Ctx& context, ConstBlockView<float, Space> X,
                                               std::span<const double> energies) {
  if (!automatic_) return 0;
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, b);
  return detail::suitable_degree<float>(
      context, X, energies, columns_.diagonal(), upper_bound_, middle_,
      ChebyshevPreconditioner<float, Ctx>::kMostDegree,
      {root_.columns(0, 1), columns_.scratch(b), columns_.small_scratch(b),
       std::span(ratios_.data(), static_cast<std::size_t>(b))});
}

template <class V, class Ctx>
void NarrowChebyshev<V, Ctx>::apply_block(Ctx& context, ConstBlockView<float, Space> X,
                                          BlockView<float, Space> Y) {
  using View = NarrowView<V, Space>;
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, b);
  const View x = right_.columns(b);
  columns_.load(context, X, x);
  const auto multiply = [&](double omega, const View& y, double beta, double gamma, double delta,
                            const View& next) {
    plan_.multiply(context, static_cast<float>(-omega), y,
                   {.beta = static_cast<float>(beta),
                    .gamma = static_cast<float>(gamma),
                    .delta = static_cast<float>(delta),
                    .X = x},
                   next);
  };
  const View y = detail::chebyshev_steps(degree_, x, odd_.columns(b), even_.columns(b), multiply);
  columns_.store(context, y, Y);
}

#define HEDDLE_INSTANTIATE(Ctx)                  \
  template class NarrowChebyshev<Half, Ctx>;     \
  template class NarrowChebyshev<Bfloat16, Ctx>; \
  template class NarrowChebyshev<Tf32, Ctx>;
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
