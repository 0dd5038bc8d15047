#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/padded_width.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
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
  bool indefinite = false;      // whether σ > 0
};

namespace {

/// The automatic degree per √(β/ρ): above it, iterations hardly fall any more.
constexpr double kDegreePerRoot = 0.9;

/// The ratio β/ρ from which ρ counts as zero.
template <Scalar T>
constexpr double kZero = 0.01 / std::numeric_limits<T>::epsilon();

/// The ratio c/e of the interval in which d steps halve every error, from T_d(c/e) = 2.
double middle_over_half_width(int degree) { return std::cosh(std::acosh(2.0) / degree); }

constexpr int first_degree(int degree) {
  return degree > 0 ? degree : ChebyshevPreconditioner<double, HostContext>::kFirstDegree;
}

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
  if (degree < 0) {
    throw InvalidArgument("ChebyshevPreconditioner: the degree must not be negative, it is " +
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
  setup.indefinite = shift > 0;
  const double x = middle_over_half_width(first_degree(degree));
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
          convert<float>(context, exact.shifted.view()), exact.upper_bound, exact.middle,
          exact.indefinite};
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
void ChebyshevPreconditioner<T, Ctx>::set_strength(Index degree) {
  if (automatic_) degree_ = detail::first_degree(static_cast<int>(degree));
}

template <Scalar T, class Ctx>
Index ChebyshevPreconditioner<T, Ctx>::suitable_strength(Ctx& context, ConstBlockView<T, Space> X,
                                                         std::span<const double> energies) {
  if (!automatic_) return 0;
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, b);
  const BlockView<T, Space> root = odd_.columns(0, 1);  // √c D^(1/2)
  const BlockView<T, Space> scaled = right_.columns(0, b);
  reciprocals<T>(context, scaling(), root);
  scale_rows<T>(context, root, X, scaled);
  column_norms<T>(context, scaled, norms_.view(b, 1));
  const std::span<double> ratios(ratios_.data(), static_cast<std::size_t>(b));
  fetch(context, norms_.view(b, 1), SmallView<double, HostSpace>{ratios.data(), b, 1, b});
  for (std::size_t j = 0; j < ratios.size(); ++j) {  // Rayleigh quotients of Â
    ratios[j] = energies[j] / ratios[j] * (middle_ / ratios[j]);
  }
  const double kappa = upper_bound_ / *std::max_element(ratios.begin(), ratios.end());
  if (!(kappa > 0 && kappa < detail::kZero<T>))
    return 1;  // null vectors tell nothing of the others
  const double degree = std::min<double>(kMostDegree, detail::kDegreePerRoot * std::sqrt(kappa));
  return std::max<Index>(1, std::lround(degree));
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
void ChebyshevPreconditioner<T, Ctx>::apply_between(Ctx& context, ConstBlockView<double, Space> X,
                                                    ConstSmallView<double, Space> scales,
                                                    BlockView<double, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  reserve(context, b);
  convert<T, double, T>(context, scaling(), X, scales.block(0, 0, b, 1), right_.columns(0, b));
  convert<double, T, T>(context, scaling(), iterate(context, b), scales.block(0, 1, b, 1), Y);
}

/// The d-th iterate from the right-hand sides in the first b columns of `right_`, all c times those
/// of the iteration.
template <Scalar T, class Ctx>
ConstBlockView<T, typename Ctx::Space> ChebyshevPreconditioner<T, Ctx>::iterate(Ctx& context,
                                                                                Index b) {
  // A degree beyond the first one moves the lower end of the interval. The upper end stays above β.
  const double sigma = 1 / detail::middle_over_half_width(degree_);  // e/c
  const Index width =
      detail::padded_width<T, Space>(b);  // columns from b on hold what was there before
  const BlockView<T, Space> x = right_.columns(0, width);
  BlockView<T, Space> next = odd_.columns(0, width);
  BlockView<T, Space> other = even_.columns(0, width);  // holds y_{k−1} from k = 3 on
  ConstBlockView<T, Space> y = x;                       // y₁ = x
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
  return y.columns(0, b);
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
