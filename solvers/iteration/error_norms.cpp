#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/row_maxima.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <limits>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

/// The numbers of Lanczos steps after which the estimates of μ are compared: these doubled.
constexpr std::size_t kFirstSteps = 8;
constexpr std::size_t kMostSteps = 128;

/// The estimate counts as converged when twice the steps lower it by no more than this share. The
/// share that remains is then covered by the safety factor.
constexpr double kStill = 0.1;
constexpr double kSafety = 0.5;

/// A sum of up to this many products counts as one rounding error of 10 ε (`EigenConvergence`) of
/// the sum of absolute values. A longer sum of m products may have one of m ε/2.
constexpr Index kTerms = 20;

/// The power of a_i/b_i in the size of the rows where a vector lives. A part of 10⁻⁸ of its square
/// in a row 10³⁰ times larger than the others then counts for nothing.
constexpr double kRootOfRows = 0.25;

/// Terms of a sum of squares below this may have lost digits to underflow.
constexpr double kLeastSquare = 1e-290;

/// A coupling β below this share of α ends the steps: their space is invariant.
template <Scalar T>
constexpr double kInvariant = 100 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// The number of eigenvalues below t of the tridiagonal matrix with diagonal `a` and off-diagonal
/// `b`, by Sylvester's law of inertia.
std::size_t count_below(std::span<const double> a, std::span<const double> b, double t) {
  std::size_t below = 0;
  double pivot = 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    pivot = a[i] - t - (i > 0 ? b[i - 1] * b[i - 1] / pivot : 0);
    if (pivot == 0) pivot = -std::numeric_limits<double>::min();
    if (pivot < 0) ++below;
  }
  return below;
}

/// The smallest eigenvalue of that matrix, by bisection in Gershgorin's bounds.
double smallest_eigenvalue(std::span<const double> a, std::span<const double> b) {
  double low = a[0];
  double high = a[0];
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double radius = (i > 0 ? b[i - 1] : 0) + (i + 1 < a.size() ? b[i] : 0);
    low = std::min(low, a[i] - radius);
    high = std::min(high, a[i]);
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (count_below(a, b, middle) > 0 ? high : low) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

template <Scalar T, class Ctx>
ErrorNorms<T, Ctx>::ErrorNorms(Ctx& context, Index n, bool pencil)
    : weights_A_(context, n, 1), roots_(context, n, 1), number_(context, 1, 1) {
  if (!pencil) return;
  weights_B_ = MultiVector<T, Space>(context, n, 1);
  inverse_ = MultiVector<T, Space>(context, n, 1);
  work_ = MultiVector<T, Space>(context, n, 4);
}

template <Scalar T, class Ctx>
void ErrorNorms<T, Ctx>::prepare(Ctx& context, const EigenProblem<T, Ctx>& problem) {
  const PhaseScope phase(context, Phase::setup);
  weighs_A_ = problem.A->absolute_row_sums(context, weights_A_.view(), kTerms);
  mu_ = 1;
  if (problem.B != nullptr) {
    weighs_B_ = problem.B->absolute_row_sums(context, weights_B_.view());
    if (weighs_B_) {
      reciprocals<T>(context, weights_B_.view(), inverse_.view());
      column_norms<T>(context, inverse_.view(), number_.view(1, 1));
      norm_of_inverse_ = fetch_number(context);
    }
    mu_ = estimate_mu(context, *problem.B);
  }
  if (weighs_A_) weigh_rows(context, problem.A->row_range());
}

/// Sets the weights of `measure_rows` and the harmonic mean of the rows of A.
template <Scalar T, class Ctx>
void ErrorNorms<T, Ctx>::weigh_rows(Ctx& context, const RowRange& rows) {
  const BlockView<T, Space> roots = roots_.view();
  row_maxima<T>(context, weights_A_.view(), -0.5, roots);
  column_norms<T>(context, roots, number_.view(1, 1));  // √(Σ 1/a)
  const double norm = fetch_number(context);
  harmonic_mean_ = norm > 0 ? static_cast<double>(rows.global) / norm / norm : 0;
  row_maxima<T>(context, weights_A_.view(), kRootOfRows, roots);
  if (!weighs_B_) return;
  const BlockView<T, Space> of_B = work_.view().columns(0, 1);
  row_maxima<T>(context, weights_B_.view(), 1 - kRootOfRows, of_B);
  scale_rows<T>(context, of_B, roots, roots);
}

template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::fetch_number(Ctx& context) {
  double value = 0;
  fetch(context, number_.view(1, 1), SmallView<double, HostSpace>{&value, 1, 1, 1});
  return value;
}

/// √(xᵀD x).
template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::norm_D(Ctx& context, ConstBlock x) {
  if (!weighs_B_) {
    column_norms<T>(context, x, number_.view(1, 1));
    return fetch_number(context);
  }
  weighted_squares<T>(context, weights_B_.view(), x, number_.view(1, 1));
  return std::sqrt(fetch_number(context));
}

/// Lanczos steps on D⁻¹B, which is self-adjoint in ⟨x, y⟩ = xᵀDy. Their vectors are not
/// reorthogonalised, because copies of Ritz values do no harm here.
template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::estimate_mu(Ctx& context, LinearOperator<T, Ctx>& B) {
  const BlockView<T, Space> memory = work_.view();
  BlockView<T, Space> old = memory.columns(0, 1), v = memory.columns(1, 1);
  const BlockView<T, Space> w = memory.columns(2, 1), Bv = memory.columns(3, 1);
  fill_random<T>(context, 0, 0, w, B.row_range().first);
  set_zero<T>(context, v);
  std::array<double, kMostSteps> alpha{}, beta{};
  double norm = norm_D(context, w);
  double estimate = 0;
  for (std::size_t m = 0; m < kMostSteps; ++m) {
    if (!(norm > 0) || !std::isfinite(norm)) break;
    std::swap(old, v);
    axpby<T>(context, 1 / norm, w, 0, v);  // v_m = w/β
    B.apply(context, v, Bv);
    column_dots<T>(context, v, Bv, number_.view(1, 1));
    alpha[m] = fetch_number(context);  // α = vᵀBv
    if (weighs_B_) {
      scale_rows<T>(context, inverse_.view(), Bv, w);
    } else {
      copy<T>(context, Bv, w);
    }
    if (m > 0) axpby<T>(context, -norm, old, 1, w);
    axpby<T>(context, -alpha[m], v, 1, w);  // w ← D⁻¹B v − β v_{m−1} − α v
    norm = beta[m] = norm_D(context, w);
    const std::size_t steps = m + 1;
    const bool invariant = norm <= kInvariant<T> * std::abs(alpha[m]);
    if (!invariant && (steps < kFirstSteps || (steps & m) != 0)) continue;
    const double smallest = smallest_eigenvalue({alpha.data(), steps}, {beta.data(), m});
    if (invariant) return std::max(smallest, 0.0);
    const bool still = steps > kFirstSteps && smallest >= (1 - kStill) * estimate;
    estimate = smallest;
    if (still) break;
  }
  return std::max(kSafety * estimate, 0.0);
}

template <Scalar T, class Ctx>
void ErrorNorms<T, Ctx>::measure_residuals(Ctx& context, ConstBlock R, Numbers numbers) const {
  if (weighs_B_) {
    weighted_squares<T>(context, inverse_.view(), R, numbers);
  } else {
    column_norms<T>(context, R, numbers);
  }
}

template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::dual_norm(double number, double norm) const noexcept {
  if (mu_ == 0) return std::numeric_limits<double>::infinity();
  if (!weighs_B_) return number / std::sqrt(mu_);
  const double weighted =
      number < kLeastSquare ? norm * std::sqrt(norm_of_inverse_) : std::sqrt(number);
  return weighted / std::sqrt(mu_);
}

template <Scalar T, class Ctx>
void ErrorNorms<T, Ctx>::measure_sizes_A(Ctx& context, ConstBlock X, Numbers numbers) const {
  if (weighs_A_) {
    weighted_squares<T>(context, weights_A_.view(), X, numbers);
  } else {
    column_norms<T>(context, X, numbers);
  }
}

template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::size_A(double number, double norm_A) const noexcept {
  return weighs_A_ ? number : norm_A * number * number;
}

template <Scalar T, class Ctx>
void ErrorNorms<T, Ctx>::measure_rows(Ctx& context, ConstBlock X, Numbers numbers) const {
  if (weighs_A_) {
    weighted_squares<T>(context, roots_.view(), X, numbers);
  } else {
    column_norms<T>(context, X, numbers);
  }
}

template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::size_of_rows(double number, double size_B,
                                        double norm_A) const noexcept {
  if (!weighs_A_) return norm_A;
  const double weight = weighs_B_ ? size_B : size_B * size_B;  // Σ b x²
  return std::max(harmonic_mean_, std::pow(number / weight, 1 / kRootOfRows));
}

template <Scalar T, class Ctx>
void ErrorNorms<T, Ctx>::measure_sizes_B(Ctx& context, ConstBlock X, Numbers numbers) const {
  if (weighs_B_) {
    weighted_squares<T>(context, weights_B_.view(), X, numbers);
  } else {
    column_norms<T>(context, X, numbers);
  }
}

template <Scalar T, class Ctx>
double ErrorNorms<T, Ctx>::size_B(double number, double norm_B) const noexcept {
  return weighs_B_ ? number : norm_B * number * number;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ErrorNorms<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
