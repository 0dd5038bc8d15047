#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <string>
#include <utility>

namespace heddle {
namespace detail {

/// The parts of the preconditioner, in the memory of `Space`.
template <Scalar T, class Space>
struct ChebyshevSetup {
  Buffer<T, Space> scaling;     // D^(-1/2)/√c
  CsrMatrix<T, Space> shifted;  // Â + σ I − c I
  double upper_bound = 0;       // β
  double middle = 0;            // c
};

namespace {

/// The ratio c/e of the interval in which d steps halve every error, from T_d(c/e) = 2.
double middle_over_half_width(int degree) { return std::cosh(std::acosh(2.0) / degree); }

template <Scalar T, class Ctx>
Buffer<T, typename Ctx::Space> ones(Ctx& context, Index n) {
  HostContext beside(1);
  Buffer<T, HostSpace> values(host_of(context, beside), static_cast<std::size_t>(n));
  std::fill_n(values.data(), values.size(), T{1});
  return place(context, std::move(values));
}

template <Scalar T, class Ctx>
ChebyshevSetup<T, typename Ctx::Space> prepare(Ctx& context, CsrView<T, typename Ctx::Space> A,
                                               int degree) {
  if (degree < 1) {
    throw InvalidArgument("ChebyshevPreconditioner: the degree must be at least 1, it is " +
                          std::to_string(degree));
  }
  ChebyshevSetup<T, typename Ctx::Space> setup;
  setup.scaling = inverse_root_diagonal<T>(context, A);
  setup.shifted = with_stored_diagonal<T>(context, A);
  scale_symmetrically(context, setup.scaling, setup.shifted);
  SpectrumBounds spectrum = lanczos_bounds<T>(context, setup.shifted.view());
  if (spectrum.smallest_ritz < 0) {
    // Of an indefinite A, scaling would move the eigenvalues at the smallest end of A, which come
    // from large entries, away from the end of the spectrum.
    setup.scaling = ones<T>(context, A.rows);
    setup.shifted = {};
    setup.shifted = with_stored_diagonal<T>(context, A);
    spectrum = lanczos_bounds<T>(context, setup.shifted.view());
  }
  const double largest = std::min(norm_1<T>(context, setup.shifted.view()), spectrum.upper);
  // The wanted end must lie at 0. A Ritz value below 0 proves that the spectrum reaches below 0.
  const double shift =
      spectrum.smallest_ritz < 0 && std::isfinite(spectrum.lower) ? -spectrum.lower : 0;
  setup.upper_bound = largest + shift > 0 ? largest + shift : 1;
  const double x = middle_over_half_width(degree);
  setup.middle = setup.upper_bound * x / (x + 1);  // c + e = β
  shift_diagonal(context, shift - setup.middle, setup.shifted);
  const BlockView<T, typename Ctx::Space> d(setup.scaling.data(), A.rows, 1, 1);
  axpby<T>(context, 0, d, 1 / std::sqrt(setup.middle), d);
  return setup;
}

/// `exact` rounded to single precision.
template <class Ctx, class Space = typename Ctx::Space>
ChebyshevSetup<float, Space> in_single(Ctx& context, ChebyshevSetup<double, Space> exact) {
  return {rounded<float>(context, std::move(exact.scaling)),
          convert<float>(context, exact.shifted.view()), exact.upper_bound, exact.middle};
}

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context, CsrView<T, Space> A,
                                                         int degree, const SpmmOptions& options)
    : ChebyshevPreconditioner(context, detail::prepare<T>(context, A, degree), degree, options) {}

template <Scalar T, class Ctx>
template <std::same_as<double> U>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context, CsrView<U, Space> A,
                                                         int degree, const SpmmOptions& options)
    : ChebyshevPreconditioner(
          context, detail::in_single(context, detail::prepare<double>(context, A, degree)), degree,
          options) {}

template <Scalar T, class Ctx>
ChebyshevPreconditioner<T, Ctx>::ChebyshevPreconditioner(Ctx& context,
                                                         detail::ChebyshevSetup<T, Space> setup,
                                                         int degree, const SpmmOptions& options)
    : Preconditioner<T, Ctx>(setup.shifted.rows(), setup.shifted.cols()),
      degree_(degree),
      upper_bound_(setup.upper_bound),
      middle_(setup.middle),
      half_width_(setup.upper_bound - setup.middle),
      scaling_(std::move(setup.scaling)),
      shifted_(std::move(setup.shifted)),
      plan_(context, shifted_.view(), options) {}

template <Scalar T, class Ctx>
void ChebyshevPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                  BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  if (right_.cols() < b) {
    for (MultiVector<T, Space>* block : {&right_, &odd_, &even_}) {
      *block = MultiVector<T, Space>();
      *block = MultiVector<T, Space>(context, X.rows(), b);
    }
  }
  const ConstBlockView<T, Space> d(scaling_.data(), X.rows(), 1, 1);
  const double sigma = half_width_ / middle_;
  const BlockView<T, Space> x = right_.columns(0, b);
  BlockView<T, Space> next = odd_.columns(0, b);
  BlockView<T, Space> other = even_.columns(0, b);  // holds y_{k−1} from k = 3 on
  scale_rows(context, d, X, x);
  ConstBlockView<T, Space> y = x;  // y₁ = x, the blocks being c times those of the iteration
  double omega = 2;
  for (int k = 1; k < degree_; ++k) {  // y_{k+1} = y_{k−1} + ω (y_k − y_{k−1} + x − Â y_k/c)
    omega = 1 / (1 - sigma * sigma * omega / 4);
    const T of_x = k == 2 ? T{1} : static_cast<T>(omega);  // (1 − ω) y₁ + ω x = x
    plan_.multiply(context, static_cast<T>(-omega / middle_), y,
                   {.beta = k <= 2 ? T{0} : static_cast<T>(1 - omega),
                    .gamma = k == 1 ? of_x : T{0},
                    .delta = k == 1 ? T{0} : of_x,
                    .X = x},
                   next);
    y = next;
    std::swap(next, other);
  }
  scale_rows<T>(context, d, y, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ChebyshevPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(Ctx)                                          \
  template ChebyshevPreconditioner<float, Ctx>::ChebyshevPreconditioner( \
      Ctx&, CsrView<double, Ctx::Space>, int, const SpmmOptions&);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
