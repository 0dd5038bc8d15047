#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/solve.hpp>

/// What a block Lanczos solve iterates on: when a polynomial or an inverse takes over, and what
/// happens when one of them turns out to be wrong.
namespace heddle {
namespace {

/// Products beside which it does not matter that the pattern is analysed, in place of some 1000.
constexpr double kManyProducts = 5000;

/// How far σ lies below the smallest eigenvalue that is known or 0, in units of ‖C‖. Rounding can
/// tell a matrix from a singular one from the second on; the last are for norms that are estimates.
constexpr std::array<double, 6> kShifts = {0, 1e-10, 1e-7, 1e-4, 1e-1, 1e2};
template <Scalar T>
constexpr double kLeastShift = sizeof(T) == sizeof(double) ? 1e-10 : 1e-5;

/// How much larger the first Ritz value of an inverse may be than that of another wanted pair,
/// which inherits its rounding; and how much larger it is once σ has been lowered for that reason.
template <Scalar T>
constexpr double kWidest = sizeof(T) == sizeof(double) ? 1e6 : 1e3;
template <Scalar T>
constexpr double kWide = sizeof(T) == sizeof(double) ? 1e4 : 1e2;

/// How far the interval that a polynomial damps keeps from the wanted values, in parts of what
/// these span.
constexpr double kClearance = 0.02;

/// Seconds that a factorisation which nobody asked for may take: nothing interrupts it.
constexpr double kLongestFactorisation = 30;

/// ‖F x − θ x‖/θ from which on θ tells where an eigenvalue lies.
constexpr double kLocated = 0.1;

}  // namespace

/// Forgets the basis and the polynomial or inverse that spoilt it, but not the far end.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::start_again() {
  checking_ = false;
  stagnation_.restart(result_.iterations);
  s_.F.set_problem(problem_, options_.which);
  s_.locked_values.clear();
  s_.locked_residuals.clear();
  largest_theta_ = 0;
  basis_.clear();
  adopt(basis_.draw_front(context_));
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::improve_operator() {
  LanczosOperator<T, Ctx>& F = s_.F;
  if (options_.filter == LanczosFilter::none || checking_ || F.inverts()) return false;
  const Index k = ritz_.order();
  const Index last = last_undamped();
  const double wanted = F.turned(first_value());
  const double upper = F.degree() > 1 ? F.upper() : far_end_;
  const auto filter =
      last < k ? F.filter_for(wanted, F.position(ritz_.value(last)), upper) : std::nullopt;
  const int degree = filter ? filter->degree : F.degree();
  if (inverse_pays(degree)) {
    has_pairs_ = !time_to_factor();
    if (ending_.ended()) return true;
    const double scale = upper - std::min(0.0, wanted);
    invert(wanted < 0 ? wanted - kLeastShift<T> * scale : 0, scale);
  } else if (too_many_applications(degree)) {
    return true;
  } else if (filter) {
    F.set_filter(*filter);
  } else {
    return false;
  }
  largest_theta_ = 0;
  const Index best = std::min(last + 1, k);
  adopt(basis_.combine_front(context_, ritz_.combination(best, basis_.block())));
  return true;
}

/// The Ritz pair at which the interval to damp shall begin: some guards after the wanted ones, and
/// beyond their values, of which the last may have many copies: what lies at the end of the
/// interval is not told from what lies within. The order of the basis if there is none. Ritz values
/// lie above the eigenvalues of their rank, so that no fewer of these are left undamped.
template <Scalar T, class Ctx>
Index BlockLanczosSolve<T, Ctx>::last_undamped() const {
  const Index k = ritz_.order();
  const Index guards = std::max<Index>(2, options_.nev / 4);
  const double last = last_value();
  const double first = s_.F.turned(first_value());
  const double clear = first + (1 + kClearance) * (s_.F.turned(last) - first);
  const auto told_apart = [&](double theta, double residual) {
    const double value = s_.F.eigenvalue(theta);
    // It may be a copy that has not converged.
    if (s_.F.degree() > 1 && residual > s_.F.image(last) - theta) return false;
    return s_.F.turned(value) > clear && !same_value(value, last);
  };
  Index j = std::min(options_.nev - basis_.locked() + guards, k) - 1;
  while (j < k && !told_apart(ritz_.value(j), ritz_.residual(j))) ++j;
  return j;
}

/// Columns multiplied by A once a cycle under a polynomial is over.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::applications_after_cycle(int degree) const {
  const auto columns = static_cast<double>(basis_.max_basis() - basis_.locked());
  return static_cast<double>(applications()) + degree * columns;
}

/// Whether the next cycle would need more products than there may be; then the solve ends.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::too_many_applications(int degree) {
  if (degree == 1 || applications_after_cycle(degree) <= options_.max_applications) return false;
  has_pairs_ = true;
  ending_.end(SolveStatus::max_iterations, "the limit of operator applications was reached");
  return true;
}

/// Whether a factorisation costs less than what the polynomials did so far and would do in the next
/// cycle: what is lost by waiting that long is no more than what it costs.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::inverse_pays(int degree) {
  if (problem_.shifted_inverse == nullptr || options_.which == Which::largest) return false;
  if (options_.filter == LanczosFilter::inverse) return true;
  if (options_.filter == LanczosFilter::chebyshev || degree == 1) return false;
  const double products = applications_after_cycle(degree);
  if (products < kManyProducts) return false;
  const auto columns = static_cast<double>(basis_.max_basis() - basis_.locked());
  const auto cost = problem_.shifted_inverse->cost_in_products(context_, columns);
  const double longest = std::min(kLongestFactorisation, ending_.seconds_left());
  return cost && *cost < products &&
         problem_.shifted_inverse->seconds_to_factor(context_) < longest;
}

/// Whether a factorisation fits into the time that is left; if not, the solve ends.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::time_to_factor() {
  if (problem_.shifted_inverse->seconds_to_factor(context_) < ending_.seconds_left()) return true;
  ending_.end(SolveStatus::time_limit, "the time limit leaves too little for a factorisation");
  return false;
}

/// F ← (A − σB)⁻¹B with the first σ that a factorisation proves to lie below the spectrum, from
/// `highest` downwards in parts of `scale` ≈ ‖C‖.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::invert(double highest, double scale) {
  for (const double part : kShifts) {
    if (part > 0 && part < kLeastShift<T>) continue;
    if (!time_to_factor()) return;
    const double sigma = highest - part * scale;
    if (!problem_.shifted_inverse->factor(context_, sigma)) continue;
    return s_.F.set_inverse(*problem_.shifted_inverse,
                            std::max(norm_of_C(), scale) + std::abs(sigma));
  }
  ending_.end(SolveStatus::indefinite,
              "A - sigma B is not positive definite for any sigma: B is not, or A not finite");
}

/// The largest wanted λ that the Ritz pairs of an inverse locate.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::farthest_located() const {
  double farthest = first_value();
  const Index active = std::min(options_.nev - basis_.locked(), ritz_.order());
  for (Index j = 0; j < active; ++j) {
    const double theta = ritz_.value(j);
    if (ritz_.residual(j) <= kLocated * theta) {
      farthest = std::max(farthest, s_.F.eigenvalue(theta));
    }
  }
  return farthest;
}

/// Whether σ is so near to the smallest eigenvalue that rounding in its θ spoils other pairs.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::shift_is_too_near() const {
  if (!s_.F.inverts() || checking_) return false;
  const double first = s_.F.image(first_value());
  return first > kWidest<T> * s_.F.image(farthest_located());
}

/// Lowers σ, to `retreat` times its distance from the smallest eigenvalue at least, and starts
/// again: what was iterated with so large an inverse is no better than its rounding.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::lower_shift(double retreat) {
  has_pairs_ = !time_to_factor();
  if (ending_.ended()) return;
  const double smallest = first_value();
  const double reach = s_.F.reach();
  const double distance =
      std::max({retreat / s_.F.image(smallest), (farthest_located() - smallest) / kWide<T>,
                kLeastShift<T> * reach});
  start_again();
  invert(smallest - distance, reach);
}

/// The far end of the spectrum as the cycle at hand shows it: the last Ritz value and the largest
/// residual beyond it. A cycle after a restart, which drops that end, may show less than earlier
/// ones. Source: Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::upper_end() const {
  double beyond = 0;
  for (Index j = 0; j < ritz_.order(); ++j) beyond = std::max(beyond, ritz_.residual(j));
  const double end = s_.F.position(ritz_.value(ritz_.order() - 1) - beyond);
  const std::optional<double> norm = problem_.A->one_norm();
  return problem_.B == nullptr && norm ? std::min(end, *norm) : end;
}

/// Whether the last Rayleigh–Ritz step met a y above the interval that the polynomial damps, where
/// it grows as it does below: then `far_end_` is corrected.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::beyond_interval() {
  const LanczosOperator<T, Ctx>& F = s_.F;
  if (F.inverts() || F.degree() == 1 || failure_ != DenseFailure::none) return false;
  const double farthest = F.turned(s_.verifier.values().back());
  const double excess = norm_B_ * (farthest - F.upper());
  if (!(convergence_.scaled(farthest, excess) > convergence_.noise_floor())) return false;
  const std::optional<double> norm = problem_.A->one_norm();
  const bool bounded = problem_.B == nullptr && norm.has_value();
  far_end_ = bounded ? *norm : farthest + (farthest - F.lower());
  return true;
}

/// The same for the leading Ritz pairs at hand. Costs a product with A in a cycle.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::leads_beyond_interval() {
  if (s_.F.inverts() || s_.F.degree() == 1) return false;
  const PhaseScope phase(context_, Phase::verify);
  const Index count = std::min({basis_.block(), options_.nev, basis_.order()});
  const Block V = result_.eigenvectors.columns(0, count);
  const SmallView<double, Space> Z = s_.coefficients.view(basis_.order(), count);
  send(context_, ritz_.Z(count), Z);
  multiply<T>(context_, 1, basis_.V(), Z, 0, V);
  measured_ = false;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  failure_ = s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, s_.F.scratch(),
                                       basis_.scratch());
  return beyond_interval();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
