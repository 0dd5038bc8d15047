#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <limits>
#include <span>

/// When a block Lanczos solve ends, and with what: claims and checks of them, records,
/// verification, the result.
namespace heddle {
namespace {

constexpr Index kMaxFailedChecks = 3;
constexpr double kStricter = 0.1;  // what a failed check does to the tolerance

/// What F adds to the noise of residuals, at most, where checks fail for nothing but rounding.
constexpr double kAboveNoise = 10;

/// ‖F x − θ x‖ relative to the height of θ above what F leaves of the rest, for a Ritz pair at
/// rest.
constexpr double kAtRest = 0.01;

/// The same relative to how far θ lies below that of the last locked pair: what is mixed into it of
/// a missed one is the square.
constexpr double kApart = 0.1;

}  // namespace

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::finished() {
  if (ending_.ended()) return true;
  record();
  const std::optional<StopControl::Stop> stop =
      ending_.requested(context_, result_.iterations, !monitor_agrees());
  if (checkpointer_.due(context_, stop.has_value())) {
    checkpointer_.write(context_, result_.history,
                        [&](const auto& visit) { basis_.for_each(visit); });
  }
  if (confirmed() && verify()) {
    ending_.end(SolveStatus::converged, "all pairs converged and passed verification");
  } else if (failed_checks_ > kMaxFailedChecks) {
    end_unverified();
  } else if (stop) {
    ending_.end(*stop);
  } else if (stagnation_.stagnated(result_.iterations, worst_residual(),
                                   convergence_.noise_floor())) {
    ending_.end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
  }
  return ending_.ended() || too_many_applications(s_.F.degree());
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::end_unverified() {
  const std::vector<double>& r = result_.residuals;
  const auto rounding = [&](double residual) {
    return residual <= kAboveNoise * convergence_.noise_floor();
  };
  if (!r.empty() && std::all_of(r.begin(), r.end(), rounding)) {
    ending_.end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
  } else {
    ending_.end(SolveStatus::verification_failed,
                "the iteration claims convergence, products made afresh do not confirm it");
  }
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::confirmed() {
  const Index others = missed();
  const bool all = checking_ ? leading_ == others : basis_.locked() + leading_ >= options_.nev;
  if (!all || next_ != AfterCycle::thick_restart) return false;
  if (checking_ && others == 0) return others_would_show();
  next_ = AfterCycle::begin_check;
  return false;
}

/// How many leading Ritz values of a check, of what is orthogonal to the converged pairs, lie among
/// theirs: as many as half of the basis can hold while they converge, the next check finds more.
template <Scalar T, class Ctx>
Index BlockLanczosSolve<T, Ctx>::missed() const {
  if (!checking_) return 0;
  const double worst = s_.locked_values.back();
  const Index room = basis_.max_basis() - basis_.locked();
  const Index most = std::min(ritz_.order(), std::max<Index>(1, room / 2));
  Index j = 0;
  for (; j < most; ++j) {
    const double lambda = s_.F.eigenvalue(ritz_.value(j));
    if (!(s_.F.turned(lambda) < s_.F.turned(worst)) || same_value(lambda, worst)) break;
  }
  return j;
}

/// Whether two Ritz values differ by no more than their residuals may, or rounding.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::same_value(double a, double b) const {
  const double distance = norm_B_ * std::abs(a - b);
  if (convergence_.scaled(a, distance) <= convergence_.noise_floor()) return true;
  if (!s_.F.inverts()) return convergence_.passes(a, distance);
  return std::abs(s_.F.image(a) - s_.F.image(b)) <= options_.tolerance * s_.F.image(a);
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::others_would_show() const {
  // A Krylov space of b random vectors holds b directions of each eigenspace. Where it showed
  // fewer, there are no more; else the random block must have come to rest beyond the wanted pairs.
  Index copies = 1;
  Index most = 1;
  for (std::size_t j = 1; j < s_.values.size(); ++j) {
    copies = same_value(s_.values[j], s_.values[j - 1]) ? copies + 1 : 1;
    most = std::max(most, copies);
  }
  return most < basis_.block() || next_is_at_rest();
}

/// Whether the leading Ritz pair beside the locked ones will not move any more by as much as would
/// count: errors of Ritz values are squares of those of their vectors.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::next_is_at_rest() const {
  const LanczosOperator<T, Ctx>& F = s_.F;
  const double theta = ritz_.value(0);
  const double residual = ritz_.residual(0);
  const double lambda = F.eigenvalue(theta);
  const double distance = F.image(s_.locked_values.back()) - theta;
  // Where F hardly tells it from the locked ones, a missed pair may be part of it.
  const bool apart = residual <= kApart * distance;
  if (!apart && !convergence_.passes(lambda, residual_of(0))) return false;
  if (!F.inverts() && F.degree() == 1) {
    return convergence_.scaled(lambda, residual_of(0)) <= std::sqrt(options_.tolerance);
  }
  // An inverse may leave as much of the unwanted end.
  const double height = std::min(F.height(theta), theta - ritz_.value(ritz_.order() - 1));
  if (residual <= kAtRest * height) return true;
  // A polynomial may damp the next pair like the rest, of which none then comes to rest. A missed
  // pair would rise above them in a whole cycle, as high as the wanted ones do.
  return !F.inverts() && basis_.full() &&
         residual <= kAtRest * F.height(F.image(s_.locked_values.back()));
}

/// The best pairs at hand: locked ones, and leading ones beside them.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::collect_pairs() {
  const Index beside = std::ssize(s_.values) - basis_.locked();
  Index locked = std::min(basis_.locked(), options_.nev);
  Index active = std::min(options_.nev - locked, beside);
  const auto rank = [&](Index j) { return s_.F.turned(s_.values[static_cast<std::size_t>(j)]); };
  for (; active < beside && locked > 0; ++active) {  // what a check has found counts, too
    if (!(rank(basis_.locked() + active) < rank(locked - 1))) break;
    --locked;
  }
  const Block V = result_.eigenvectors.columns(0, locked + active);
  copy<T>(context_, basis_.locked_vectors().columns(0, locked), V.columns(0, locked));
  const SmallView<double, Space> Z = s_.coefficients.view(basis_.order(), active);
  send(context_, ritz_.Z(active), Z);
  multiply<T>(context_, 1, basis_.V(), Z, 0, V.columns(locked, active));
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::verify() {
  const PhaseScope phase(context_, Phase::verify);
  collect_pairs();
  const bool passes = measure(std::min(std::ssize(s_.values), options_.nev));
  const bool beyond = beyond_interval();
  if (passes && !beyond) {
    next_ = AfterCycle::thick_restart;
    return true;
  }
  ++failed_checks_;
  if (beyond) {
    next_ = AfterCycle::start_again;
  } else if (s_.F.inverts()) {
    next_ = AfterCycle::retreat;
  } else {
    if (failure_ == DenseFailure::none) next_ = AfterCycle::reopen;
    strictness_ *= kStricter;
  }
  return false;
}

/// A Rayleigh–Ritz step over the first `count` vectors of the result and the residuals of its
/// wanted pairs: whether all pass.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::measure(Index count) {
  const Block V = result_.eigenvectors.columns(0, count);
  const Block AV = s_.F.scratch();
  const Block BV = basis_.scratch();
  result_.eigenvalues.clear();
  result_.residuals.clear();
  measured_ = true;
  failure_ = s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, AV, BV);
  if (failure_ != DenseFailure::none) return false;
  if (!norms_known_) set_norms();
  const Index wanted = std::min(count, options_.nev);
  s_.verifier.measure(context_, problem_, V.columns(0, wanted), AV, BV);
  return s_.verifier.report(convergence_, result_);
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::solve_dense() {
  basis_.reset(problem_.B, options_.seed);
  set_identity(context_, result_.eigenvectors.view());
  const bool passes = measure(s_.shape.n);
  leading_ = passes ? options_.nev : 0;
  record();
  if (passes) {
    ending_.end(SolveStatus::converged, "solved as a dense problem");
  } else if (result_.eigenvalues.empty()) {
    ending_.end(
        failure_ == DenseFailure::indefinite ? SolveStatus::indefinite : SolveStatus::breakdown,
        "the dense problem has no solution: B is not positive definite, or A not finite");
  } else {
    ending_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
  finish();
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::record() {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.converged = checking_ ? std::max<Index>(0, options_.nev - (missed() - leading_))
                            : std::min(options_.nev, basis_.locked() + leading_);
  now.worst_residual = worst_residual();
  now.seconds = ending_.seconds();
  now.active_columns = basis_.block();
  now.operator_applications = applications();
  result_.history.push_back(now);
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::monitor_agrees() {
  if (!monitor_) return true;
  s_.scaled_residuals.clear();
  const std::span<const double> values(
      s_.values.data(), std::min(s_.values.size(), static_cast<std::size_t>(options_.nev)));
  for (std::size_t j = 0; j < values.size(); ++j) {
    s_.scaled_residuals.push_back(convergence_.scaled(values[j], s_.residuals[j]));
  }
  return monitor_({result_.history.back(), options_.nev, values, s_.scaled_residuals});
}

template <Scalar T, class Ctx>
double BlockLanczosSolve<T, Ctx>::worst_residual() const {
  double worst = 0;
  for (std::size_t j = 0; j < s_.values.size(); ++j) {
    keep_worst(worst, convergence_.scaled(s_.values[j], s_.residuals[j]));
  }
  return worst;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::finish() {
  if (!measured_ && has_pairs_) verify();
  if (ending_.status() == SolveStatus::converged) checkpointer_.discard();
  result_.status = ending_.status();
  result_.orthogonalization = basis_.counts();
  result_.operator_applications = applications();
  result_.inverse_applications = inverse_applications() - inverse_applications_before_;
  const bool none = result_.history.empty() || next_ == AfterCycle::start_again;
  const Index converged = none ? 0 : result_.history.back().converged;
  const double worst = result_.residuals.empty()
                           ? std::numeric_limits<double>::quiet_NaN()
                           : *std::max_element(result_.residuals.begin(), result_.residuals.end());
  ending_.write_sentence({converged, options_.nev, "pairs", result_.iterations, "cycles", worst},
                         result_.reason);
}

template <Scalar T, class Ctx>
Index BlockLanczosSolve<T, Ctx>::applications() const {
  return problem_.A->columns_applied() - applications_before_;
}

template <Scalar T, class Ctx>
Index BlockLanczosSolve<T, Ctx>::inverse_applications() const {
  return problem_.shifted_inverse == nullptr ? 0 : problem_.shifted_inverse->columns_applied();
}

/// What the end of a cycle begins with, but for the long blocks.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::archive(Archive& archive) {
  Index applied = applications();
  Index solved = inverse_applications() - inverse_applications_before_;
  archive.values(applied, solved, convergence_, stagnation_, norm_A_, norm_B_, norms_known_,
                 far_end_, largest_theta_, failed_checks_, strictness_, checking_, cycle_complete_,
                 result_.iterations);
  if (archive.loading()) {
    applications_before_ = problem_.A->columns_applied() - applied;
    inverse_applications_before_ = inverse_applications() - solved;
  }
  ending_.archive(archive);
  basis_.archive(context_, archive);
  s_.F.archive(context_, archive, problem_.shifted_inverse);
  for (auto* list : {&s_.locked_values, &s_.locked_residuals}) archive.list(*list);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
