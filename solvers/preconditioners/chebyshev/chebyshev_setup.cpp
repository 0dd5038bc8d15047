#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev_setup.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/ones.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
#include <string>

namespace heddle::detail {
namespace {

/// The automatic degree per √(β/ρ). From 0.9 on iterations fall slowly. The host still gains from
/// that, because there the other work of an iteration takes as long as 20 steps or more.
template <class Ctx>
constexpr double kDegreePerRoot = std::same_as<Ctx, HostContext> ? 1.15 : 1.0;

/// The ratio β/ρ from which ρ counts as zero.
template <Scalar T>
constexpr double kZero = 0.01 / std::numeric_limits<RealOf<T>>::epsilon();

}  // namespace

int first_degree(int degree) noexcept {
  return degree > 0 ? degree : ChebyshevPreconditioner<double, HostContext>::kFirstDegree;
}

double middle_over_half_width(int degree) noexcept { return std::cosh(std::acosh(2.0) / degree); }

template <Scalar T, class Ctx>
ChebyshevSetup<T, typename Ctx::Space> prepare_chebyshev(
    Ctx& context, DistributedCsrView<T, typename Ctx::Space> A, int degree, double roundoff) {
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
    setup.scaling = ones<T>(context, A.own.rows);
    setup.shifted = {};
    setup.shifted = with_stored_diagonal<T>(context, A);
    spectrum = lanczos_bounds<T>(context, setup.shifted.view());
  }
  const double norm = norm_1<T>(context, setup.shifted.view());
  const double largest = std::min(norm, spectrum.upper) + roundoff * norm;
  // The wanted end must lie at 0. A Ritz value below 0 proves that the spectrum reaches below 0.
  const double shift =
      spectrum.smallest_ritz < 0 && std::isfinite(spectrum.lower) ? -spectrum.lower : 0;
  setup.upper_bound = largest + shift > 0 ? largest + shift : 1;
  setup.indefinite = shift > 0;
  const double x = middle_over_half_width(first_degree(degree));
  setup.middle = setup.upper_bound * x / (x + 1);  // c + e = β
  shift_diagonal(context, shift - setup.middle, setup.shifted.own());
  const BlockView<T, typename Ctx::Space> d(setup.scaling.data(), A.own.rows, 1, 1);
  axpby<T>(context, 0, d, 1 / std::sqrt(setup.middle), d);
  return setup;
}

template <Scalar T, class Ctx>
Index suitable_degree(Ctx& context, ConstBlockView<T, typename Ctx::Space> X,
                      std::span<const double> energies,
                      ConstBlockView<T, typename Ctx::Space> scaling, double upper_bound,
                      double middle, int most,
                      const DegreeScratch<T, typename Ctx::Space>& scratch) {
  const std::span<double> ratios = scratch.ratios;
  const Index b = X.cols();
  reciprocals<T>(context, scaling, scratch.root);  // √c D^(1/2)
  scale_rows<T>(context, scratch.root, X, scratch.scaled);
  column_norms<T>(context, scratch.scaled, scratch.norms);
  fetch(context, scratch.norms, SmallView<double, HostSpace>{ratios.data(), b, 1, b});
  for (std::size_t j = 0; j < ratios.size(); ++j) {  // Rayleigh quotients of Â
    ratios[j] = energies[j] / ratios[j] * (middle / ratios[j]);
  }
  const double kappa = upper_bound / *std::max_element(ratios.begin(), ratios.end());
  if (!(kappa > 0 && kappa < kZero<T>)) return 1;  // null vectors tell nothing of the others
  const double degree = std::min<double>(most, kDegreePerRoot<Ctx> * std::sqrt(kappa));
  return std::max<Index>(1, std::lround(degree));
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                             \
  template ChebyshevSetup<T, Ctx::Space> prepare_chebyshev(                                    \
      Ctx&, DistributedCsrView<T, Ctx::Space>, int, double);                                   \
  template Index suitable_degree(Ctx&, ConstBlockView<T, Ctx::Space>, std::span<const double>, \
                                 ConstBlockView<T, Ctx::Space>, double, double, int,           \
                                 const DegreeScratch<T, Ctx::Space>&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
