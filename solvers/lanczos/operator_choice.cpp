#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/operator_choice.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// From this number of products on, they cost more than the estimate of a factorisation. On the
/// host the estimate takes some hundred products.
template <class Ctx>
constexpr double kManyProducts = std::same_as<Ctx, HostContext> ? 5000 : 50000;

/// The distances of σ below 0 or below the smallest known eigenvalue that are tried in turn, in
/// units of ‖C‖. From the second on, A − σB is distinguishable from a singular matrix in spite of
/// rounding. The last ones are for norms that are only estimates. Beyond them, σ falls by
/// `kShiftGrowth` until A is a rounding error in A − σB. An indefinite A has eigenvalues down to
/// −‖A‖/λ_min(B), which is far below −‖C‖ for an ill conditioned B.
constexpr std::array<double, 6> kShifts = {0, 1e-10, 1e-7, 1e-4, 1e-1, 1e2};
constexpr double kShiftGrowth = 10;
constexpr double kLargestShift = 1e17;

/// From this part of ‖C‖ on, σ may lie so far below the spectrum that the wanted θ hardly differ.
/// It is then raised again in this many steps, which leave it within a factor of 3 of the best one.
constexpr double kCoarseShift = 0.1;
constexpr int kRaises = 3;
template <Scalar T>
constexpr double kLeastShift = sizeof(RealOf<T>) == sizeof(double) ? 1e-10 : 1e-5;

/// Limits of the ratio of the first Ritz value θ of an inverse to the θ of another wanted pair.
/// Rounding errors of the first pair spoil the other one in proportion to this ratio. The constants
/// are the largest accepted ratio, and the ratio after σ has been lowered for that reason.
template <Scalar T>
constexpr double kWidest = sizeof(RealOf<T>) == sizeof(double) ? 1e6 : 1e3;
template <Scalar T>
constexpr double kWide = sizeof(RealOf<T>) == sizeof(double) ? 1e4 : 1e2;

/// The distance of the damped interval from the wanted values, relative to the range of these.
constexpr double kClearance = 0.02;

/// The most seconds that a factorisation may take unless the user chose `LanczosFilter::inverse`.
/// It cannot be interrupted.
constexpr double kLongestFactorisation = 30;

/// The largest ‖F x − θ x‖/θ at which θ locates an eigenvalue.
constexpr double kLocated = 0.1;

/// A filter is replaced if this shrinks the undamped interval at least by this factor.
constexpr double kWorthwhile = 0.5;

/// A filter is kept once ‖F x − θ x‖/θ is at most this for all wanted pairs: a few restarts then
/// end the solve, while another filter begins with a single block and has a higher degree.
constexpr double kNear = 0.03;

/// In units of the distance that a new σ would have from the first wanted value: the distance of σ
/// from which on the new one saves many steps.
constexpr double kFar = 10;

/// The cost of a dense solve in columns multiplied by A. Infinite where none may follow.
template <Scalar T>
double dense_cost(const BlockLanczosOptions& options, Index n) {
  if (!dense_solve_may_follow(options, n, sizeof(T))) {
    return std::numeric_limits<double>::infinity();
  }
  return dense_operations(n) / (kPerProduct * static_cast<double>(n));
}

/// acosh of the filter's value at the wanted end. A larger value means fewer steps with more
/// products each, and less dense work. The values θ of the wanted pairs then differ by larger
/// factors, so that the smaller ones lose digits.
template <Scalar T>
constexpr double kGrowth = sizeof(RealOf<T>) == sizeof(double) ? 4 : 2.5;

/// A filter of a lower degree would save too little, because the wanted end is well separated
/// without it.
constexpr double kMinDegree = 6;
constexpr double kMaxDegree = 20000;

}  // namespace

template <Scalar T, class Ctx>
OperatorChoice<T, Ctx>::OperatorChoice(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                       const BlockLanczosOptions& options, Index max_basis,
                                       LanczosOperator<T, Ctx>& F, const LanczosValues& ritz,
                                       const PairLedger& pairs, Engine<Ctx>& engine)
    : context_(context),
      problem_(problem),
      options_(options),
      max_basis_(max_basis),
      dense_cost_(dense_cost<T>(options, problem.A->row_range().global)),
      F_(F),
      map_(F.map()),
      ritz_(ritz),
      pairs_(pairs),
      engine_(engine),
      applications_before_(problem.A->columns_applied()),
      inverse_applications_before_(inverse_columns()) {}

template <Scalar T, class Ctx>
std::optional<Index> OperatorChoice<T, Ctx>::improve() {
  if (options_.filter == LanczosFilter::none || pairs_.checking()) return {};
  const Index k = ritz_.order();
  const Index last = last_undamped();
  if (map_.inverts()) {
    if (!raise_shift_to_wanted()) return {};
    return std::min(last + 1, k);
  }
  const double wanted = map_.y_of(pairs_.first_value());
  const double upper = map_.filters() ? map_.filter()->interval.upper : far_end_;
  const bool near = map_.filters() && farthest_from_converged() <= kNear;
  std::optional<ChebyshevFilter> filter;
  if (last < k && !near) filter = filter_for(wanted, map_.y_at(ritz_.value(last)), upper);
  const int degree = filter ? filter->degree : map_.degree();
  if (inverse_pays(degree, near ? cycles_left() : 1)) {
    if (!time_to_factor()) return {};
    invert(shift_below(wanted, upper));
  } else if (too_many_applications(degree) || !filter) {
    return {};
  } else {
    F_.set_filter(*filter);
  }
  return std::min(last + 1, k);
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::may_invert() {
  return problem_.shifted_inverse != nullptr && options_.which == Which::smallest &&
         options_.filter == LanczosFilter::automatic && !map_.inverts() &&
         problem_.shifted_inverse->cost_in_products(context_, 0).has_value();
}

template <Scalar T, class Ctx>
auto OperatorChoice<T, Ctx>::shift_below(double first, double upper) const -> Shift {
  const double scale = upper - std::min(0.0, first);
  return {first < 0 ? first - kLeastShift<T> * scale : 0, scale};
}

/// Raises a σ that is so far below the wanted eigenvalues that their θ hardly differ, to about
/// their span and the error of the first one below it, once solves have cost as much as the new
/// factor. Returns whether
/// σ was raised.
template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::raise_shift_to_wanted() {
  // Known null vectors lie below the first value that is not 0.
  if (problem_.null_vectors.cols() > 0) return false;
  if (pairs_.wanted().size() < options_.nev) return false;
  // Ritz values are upper bounds, so that the span is at most too large.
  const double first = pairs_.first_value();
  const double span = std::max(pairs_.last_value() - first, kLeastShift<T> * map_.reach());
  const double distance = span + pairs_.wanted().errors.front();
  if (!(kFar * distance < 1 / map_.theta_of(first))) return false;
  ShiftedInverse<T, Ctx>& inverse = *problem_.shifted_inverse;
  const auto solved = static_cast<double>(inverse_applications());
  const std::optional<double> factor = inverse.cost_in_products(context_, 0);
  const std::optional<double> so_far = inverse.cost_in_products(context_, solved);
  if (!factor || !so_far || *so_far < 2 * *factor || !time_to_factor()) return false;
  invert({first - distance, map_.reach()});
  return !engine_.ended();
}

/// The index of the Ritz pair at whose value the damped interval begins, or the order of the basis
/// if there is none. Some guard pairs lie between it and the wanted pairs. Its value must differ
/// from the last wanted value, which may have many copies, because F maps values at the end of the
/// interval and within it to similar θ. Ritz values y are upper bounds of the eigenvalues with the
/// same index. Therefore at least as many eigenvalues as Ritz values remain undamped.
template <Scalar T, class Ctx>
Index OperatorChoice<T, Ctx>::last_undamped() const {
  const Index k = ritz_.order();
  const Index guards = std::max<Index>(2, options_.nev / 4);
  const double last = pairs_.last_value();
  const double first = map_.y_of(pairs_.first_value());
  const double clear = first + (1 + kClearance) * (map_.y_of(last) - first);
  const auto told_apart = [&](double theta, double residual) {
    const double value = map_.lambda_at(theta);
    // The pair may be a copy of the last wanted one that has not converged.
    if (map_.filters() && residual > map_.theta_of(last) - theta) return false;
    return map_.y_of(value) > clear && !pairs_.same_value(value, last);
  };
  Index j = std::min(options_.nev - pairs_.locked() + guards, k) - 1;
  while (j < k && !told_apart(ritz_.value(j), ritz_.residual(j))) ++j;
  return j;
}

/// The largest ‖F x − θ x‖/θ of the wanted pairs that are not locked, at most 1.
template <Scalar T, class Ctx>
double OperatorChoice<T, Ctx>::farthest_from_converged() const {
  double worst = 0;
  const Index active = std::min(options_.nev - pairs_.locked(), ritz_.order());
  for (Index j = 0; j < active; ++j) {
    const double theta = ritz_.value(j);
    worst = std::max(worst, theta > 0 ? ritz_.residual(j) / theta : 1);
  }
  return std::min(worst, 1.0);
}

/// The cycles until convergence with a filter that is kept, from the digits that the wanted pairs
/// have. A restart brings them at twice the rate of the first cycle, which began with one block.
template <Scalar T, class Ctx>
double OperatorChoice<T, Ctx>::cycles_left() const {
  const double now = std::log(farthest_from_converged());
  const double end = std::log(std::max<double>(std::numeric_limits<RealOf<T>>::epsilon(),
                                               std::min(options_.tolerance, kDefaultTolerance<T>)));
  return std::max(1.0, (now - end) / (-2 * now));
}

/// The polynomial that damps lower ≤ y ≤ upper, with the degree that makes θ large enough at
/// y = `wanted`. Nothing if the interval is hardly larger than before, or a degree below kMinDegree
/// would be enough.
template <Scalar T, class Ctx>
std::optional<ChebyshevFilter> OperatorChoice<T, Ctx>::filter_for(double wanted, double lower,
                                                                  double upper) const {
  const double least = std::cosh(kGrowth<T> / kMaxDegree);
  lower = std::max(lower, wanted + (upper - wanted) * (least - 1) / (least + 1));
  const std::optional<ChebyshevFilter>& now = map_.filter();
  if (now && lower - wanted > kWorthwhile * (now->interval.lower - wanted)) return {};
  const double growth = std::acosh(1 + 2 * (lower - wanted) / (upper - lower));  // per degree
  const double degree = std::ceil(kGrowth<T> / growth);
  if (!(degree >= kMinDegree)) return {};
  return ChebyshevFilter{{lower, upper}, static_cast<int>(std::min(degree, kMaxDegree))};
}

/// Columns multiplied by A until the end of this many cycles under a polynomial.
template <Scalar T, class Ctx>
double OperatorChoice<T, Ctx>::applications_after(double cycles, int degree) const {
  const auto columns = static_cast<double>(max_basis_ - pairs_.locked());
  return static_cast<double>(applications()) + cycles * degree * columns;
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::too_many_applications(int degree) {
  const double next =
      degree == 1 ? static_cast<double>(applications()) : applications_after(1, degree);
  if (next > dense_cost_) {
    dense_pays_ = true;
    engine_.end(SolveStatus::max_iterations, "a dense solve costs less");
    return true;
  }
  if (degree == 1 || applications_after(1, degree) <= options_.max_applications) return false;
  engine_.end(SolveStatus::max_iterations, "the limit of operator applications was reached");
  return true;
}

/// Whether a factorisation and its solves cost less than the products so far and in the next cycles
/// together. Waiting until then wastes at most the cost of the factorisation.
template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::inverse_pays(int degree, double cycles) {
  if (problem_.shifted_inverse == nullptr || options_.which == Which::largest) return false;
  if (options_.filter == LanczosFilter::inverse) return true;
  if (options_.filter == LanczosFilter::chebyshev || degree == 1) return false;
  const double products = applications_after(cycles, degree);
  if (products < kManyProducts<Ctx>) return false;
  const auto columns = static_cast<double>(max_basis_ - pairs_.locked());
  ShiftedInverse<T, Ctx>& inverse = *problem_.shifted_inverse;
  if (engine_.less_time_left_than(inverse.seconds_to_order(context_))) return false;
  if (!inverse.pays(context_, columns, products)) return false;
  const double seconds = inverse.seconds_to_factor(context_);
  return seconds < kLongestFactorisation && !engine_.less_time_left_than(seconds);
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::time_to_factor() {
  const auto stopped = [&] {
    const bool requested = engine_.stop_requested();
    if (requested) engine_.end_as_requested();
    return requested;
  };
  if (stopped()) return false;
  ShiftedInverse<T, Ctx>& inverse = *problem_.shifted_inverse;
  if (!engine_.less_time_left_than(inverse.seconds_to_order(context_))) {
    const double seconds = inverse.seconds_to_factor(context_);
    if (stopped()) return false;  // during the ordering
    if (!engine_.less_time_left_than(seconds)) return true;
  }
  engine_.end(SolveStatus::time_limit, "the time limit leaves too little for a factorisation");
  return false;
}

/// Factors A − σB for a σ = shift.highest − part·shift.scale that is less far below the spectrum
/// than that of `good`, for which the factor exists and has been made. There is none for `failed`.
template <Scalar T, class Ctx>
void OperatorChoice<T, Ctx>::raise_shift(const Shift& shift, double failed, double good) {
  bool made = true;  // whether the last factor is that of `good`
  for (int k = 0; k < kRaises && time_to_factor(); ++k) {
    const double middle = std::sqrt(failed * good);
    made = problem_.shifted_inverse->factor(context_, shift.highest - middle * shift.scale);
    (made ? good : failed) = middle;
  }
  if (!made) problem_.shifted_inverse->factor(context_, shift.highest - good * shift.scale);
}

template <Scalar T, class Ctx>
void OperatorChoice<T, Ctx>::invert(const Shift& wanted) {
  const Shift shift{wanted.highest, wanted.scale > 0 ? wanted.scale : 1};  // A = 0 has no scale
  double part = 0;
  double failed = 0;
  const bool singular = shift.highest == 0 && problem_.null_vectors.cols() > 0;
  for (std::size_t k = 0; part <= kLargestShift; ++k) {
    part = k < kShifts.size() ? kShifts[k] : kShiftGrowth * part;
    if ((part > 0 || singular) && part < kLeastShift<T>) continue;
    if (!time_to_factor()) return;
    const double sigma = shift.highest - part * shift.scale;
    if (!problem_.shifted_inverse->factor(context_, sigma)) {
      failed = part;
      continue;
    }
    if (part >= kCoarseShift && failed > 0) raise_shift(shift, failed, part);
    return F_.set_inverse(
        *problem_.shifted_inverse,
        std::max(pairs_.norms().C(), shift.scale) + std::abs(problem_.shifted_inverse->shift()));
  }
  no_shift_ = fmt::format(
      "A - sigma B has no Cholesky factor for any sigma down to {:.1e}: B is not positive "
      "definite, "
      "or it is singular and A is not positive definite on its null space, whose unknowns must "
      "then "
      "be condensed out of A",
      shift.highest - part * shift.scale);
  engine_.end(SolveStatus::indefinite, no_shift_);
}

/// The largest wanted λ that is located by the Ritz pairs of an inverse.
template <Scalar T, class Ctx>
double OperatorChoice<T, Ctx>::farthest_located() const {
  double farthest = pairs_.first_value();
  const Index active = std::min(options_.nev - pairs_.locked(), ritz_.order());
  for (Index j = 0; j < active; ++j) {
    const double theta = ritz_.value(j);
    if (ritz_.residual(j) <= kLocated * theta) {
      farthest = std::max(farthest, map_.lambda_at(theta));
    }
  }
  return farthest;
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::shift_is_too_near() const {
  if (!map_.inverts() || pairs_.checking()) return false;
  const double first = map_.theta_of(pairs_.first_value());
  return first > kWidest<T> * map_.theta_of(farthest_located());
}

template <Scalar T, class Ctx>
auto OperatorChoice<T, Ctx>::lower_shift(double retreat) const -> Shift {
  const double smallest = pairs_.first_value();
  const double distance =
      std::max({retreat / map_.theta_of(smallest), (farthest_located() - smallest) / kWide<T>,
                kLeastShift<T> * map_.reach()});
  return {smallest - distance, map_.reach()};
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::wants_infinite_values() const {
  const Index active = options_.nev - pairs_.locked();
  if (!F_.in_standard_form()) return false;  // a B that has an inverse is not singular
  if (!map_.inverts() || pairs_.checking() || active < 1 || active > ritz_.order()) return false;
  const double nothing = kInfiniteValue<T> * F_.norm();
  return ritz_.value(active - 1) <= nothing && ritz_.residual(active - 1) <= nothing;
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::separate(double first, double last) {
  if (!(first > kWidest<T> * last)) return false;
  const double smallest = map_.lambda_at(first);
  const double distance =
      std::max((map_.lambda_at(last) - smallest) / kWide<T>, kLeastShift<T> * map_.reach());
  invert({smallest - distance, map_.reach()});
  return true;
}

template <Scalar T, class Ctx>
void OperatorChoice<T, Ctx>::note_far_end() {
  // A restart drops Ritz vectors of the far end. A later cycle may therefore give a smaller
  // estimate than earlier ones.
  if (!map_.inverts() && !map_.filters()) far_end_ = std::max(far_end_, upper_end());
}

/// The estimate of the far end of the spectrum from the current cycle: the last Ritz value plus the
/// largest residual. Source: Zhou & Li, SIAM J. Matrix Anal. Appl. 32 (2011) 480.
template <Scalar T, class Ctx>
double OperatorChoice<T, Ctx>::upper_end() const {
  double beyond = 0;
  for (Index j = 0; j < ritz_.order(); ++j) beyond = std::max(beyond, ritz_.residual(j));
  const double end = map_.y_at(ritz_.value(ritz_.order() - 1) - beyond);
  const std::optional<double> norm = problem_.A->one_norm();
  return problem_.B == nullptr && norm ? std::min(end, *norm) : end;
}

template <Scalar T, class Ctx>
bool OperatorChoice<T, Ctx>::corrects_far_end(double value) {
  if (!map_.filters()) return false;
  const ChebyshevInterval& damped = map_.filter()->interval;
  const EigenConvergence& convergence = pairs_.convergence();
  const double farthest = map_.y_of(value);
  const double excess = pairs_.norms().B * (farthest - damped.upper);
  if (!(convergence.scaled_residual(farthest, excess) > convergence.noise_floor())) return false;
  const std::optional<double> norm = problem_.A->one_norm();
  const bool bounded = problem_.B == nullptr && norm.has_value();
  far_end_ = bounded ? *norm : farthest + (farthest - damped.lower);
  return true;
}

template <Scalar T, class Ctx>
Index OperatorChoice<T, Ctx>::applications() const {
  return problem_.A->columns_applied() - applications_before_;
}

template <Scalar T, class Ctx>
Index OperatorChoice<T, Ctx>::inverse_applications() const {
  return inverse_columns() - inverse_applications_before_;
}

template <Scalar T, class Ctx>
Index OperatorChoice<T, Ctx>::inverse_columns() const {
  return problem_.shifted_inverse == nullptr ? 0 : problem_.shifted_inverse->columns_solved();
}

template <Scalar T, class Ctx>
void OperatorChoice<T, Ctx>::archive(Archive& archive) {
  Index applied = applications();
  Index solved = inverse_applications();
  archive.values(applied, solved, far_end_);
  if (archive.loading()) {
    applications_before_ = problem_.A->columns_applied() - applied;
    inverse_applications_before_ = inverse_columns() - solved;
  }
  F_.archive(context_, archive, problem_.shifted_inverse);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class OperatorChoice<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
