#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/lanczos/nearest/counts.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>
#include <limits>
#include <utility>

/// The loop and its steps. Verification and counts are in verification.cpp, the end in ending.cpp.
namespace heddle::detail {
namespace {

/// The solve ends with this many refuted claims of convergence.
constexpr Index kMostRefuted = 4;

/// ‖F x − θ x‖/|θ| of a settled Ritz pair, in units of √tolerance. Its value then has twice as many
/// digits, and the last product with F takes the residual to a small part of the tolerance.
constexpr double kSettled = 1e-3;

/// Cycles without progress after which the basis grows. The decades of residuals that are left must
/// fall by this factor, and a pair that is not there counts as so many.
constexpr Index kPatience = 4;
constexpr double kProgress = 0.9;
constexpr double kMissingDecades = 8;

template <Scalar T, class Ctx>
EigenConvergence convergence_of(const EigenProblem<T, Ctx>& problem,
                                const NearestOptions& options) {
  const double norm_A = problem.A->one_norm().value_or(1);
  const double norm_B = problem.B == nullptr ? 1 : problem.B->one_norm().value_or(1);
  return {options.criterion, options.tolerance, norm_A, norm_B,
          static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon())};
}

/// The problem, or B x = ν A x where A is the definite matrix.
template <Scalar T, class Ctx>
EigenProblem<T, Ctx> measured_problem(EigenProblem<T, Ctx> problem, const NearestOptions& options) {
  if (options.definite == Definite::A) std::swap(problem.A, problem.B);
  return problem;
}

Target target_of(const NearestOptions& options, double rounding) {
  Target target{options.sigma, options.lower, options.upper, 0, rounding, options.tolerance};
  target.counted = options.counts.has_value();
  target.free_at_0 = options.definite == Definite::A;
  if (!target.counted) target.noise = rounding;
  return target;
}

}  // namespace

template <Scalar T, class Ctx>
NearestSolve<T, Ctx>::NearestSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                   ConstBlockView<T, Space> given,
                                   IndefiniteInverse<T, Ctx>& inverse,
                                   const NearestOptions& options, const Monitor& monitor)
    : context_(context),
      problem_(problem),
      inverse_(inverse),
      options_(options),
      measured_(measured_problem(problem, options)),
      constraints_(context, measured_, inverse),
      given_(given),
      rows_(problem.A->row_range()),
      n_(rows_.global),
      held_(constraints_.rank() + given.cols()),
      applications_before_(problem.A->columns_applied()),
      solves_before_(inverse.columns_applied()),
      engine_(context, options, {}, monitor, result_.history, kMostRefuted),
      convergence_(convergence_of(measured_, options)),
      pairs_{.target = target_of(options, rounding_near(options.sigma, convergence_, options)),
             .reciprocal = options.definite == Definite::A,
             .held = held_},
      verification_(context, measured_, pairs_, s_, F_),
      shift_(context, inverse, options, n_ - constraints_.rank(), convergence_, pairs_, engine_) {
  measured_.A = constraints_.restricted(context, *measured_.A, nearest_block_size(options, n_));
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> NearestSolve<T, Ctx>::run() {
  plan();  // F = (A − sB)⁻¹B, V₊ᵀBV₊ = I                                       n×b
  while (!engine_.ended()) {
    s_->basis.multiply(context_, *F_);  // U = F V₊, S = VᵀBU                n×b
    if (cycle_ends()) {
      ritz();  // T Z = Z Θ, λ = s + 1/θ, ‖F x − θ x‖ = ‖Sᵀz‖                  k×k
      if (engine_.ended()) break;
      engine_.finish_iteration(*this, "all pairs converged and passed verification");
      if (engine_.ended()) break;
      restart();  // V ← V Z, T ← Θ, S ← ZᵀS                                 n×l
      if (engine_.ended() || !s_->basis.multiplied()) continue;  // V₊ was replaced
    }
    end_if_lost(s_->basis.expand(context_, *F_));  // V ← [V V₊], V₊β ← U − V T₊
  }
  finish();
  return std::move(result_);
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::plan() {
  wanted_ = options_.nev;
  if (options_.counts) wanted_ = std::min(wanted_, options_.counts->between());
  end_if_lost({constraints_.made().indefinite, constraints_.made().finite});
  if (engine_.ended()) return;
  if (pairs_.reciprocal) {
    engine_.begin_stage("factoring A");
    trouble_ = not_definite<T, Ctx>(context_, inverse_);
    if (!trouble_.empty()) return engine_.end(SolveStatus::indefinite, trouble_);
  }
  const NearestShape shape = nearest_shape(options_, n_, wanted_ + held_);
  F_.emplace(context_, inverse_, problem_.B, shape.block);
  const bool may_exist = shift_.approach();
  if (engine_.ended() || (may_exist && !shift_.place(0))) return;
  wanted_ = may_exist ? std::min(wanted_, shift_.most_on_side()) : 0;
  if (wanted_ == 0) return end_without_pairs();
  if (n_ <= kDenseOrder || shape.max_basis == 0) return solve_whole();
  make_storage(shape);
  if (wanted_ == 0) return end_without_pairs();
  start();
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::end_without_pairs() {
  wanted_ = 0;
  proven_ = true;
  engine_.end(SolveStatus::converged, pairs_.reciprocal
                                          ? "no finite eigenvalue lies on the wanted side of sigma"
                                          : "no eigenvalue lies on the wanted side of sigma");
}

/// Ends the solve if a block could not be made orthonormal. A B of too low a rank for the basis is
/// left to a dense solve.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::end_if_lost(const FrontStatus& status) {
  if (status.indefinite) {
    if (!give_up()) return solve_whole();
    engine_.end(SolveStatus::indefinite, "B is not positive definite: x'Bx < 0 was met");
  } else if (!status.finite) {
    engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
  }
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::make_storage(const NearestShape& shape) {
  s_.reset();
  s_.emplace(context_, rows_, shape, measured_.B != nullptr);
  s_->verifier.norms().prepare(context_, measured_);
  verification_.take_given(given_);
  if (!options_.counts) return;
  wanted_ = std::min(wanted_, options_.counts->between() - pairs_.given_between());
}

/// Starts from a random block that is orthogonal to constraints, given and locked vectors.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::start() {
  KrylovBasis<T, Ctx>& basis = s_->basis;
  basis.reset(measured_.B, options_.seed + result_.history.size());
  for (const auto& held : {constraints_.Y(), given_}) {
    if (held.cols() > 0) basis.lock(context_, held);
  }
  if (!pairs_.locked.empty()) basis.lock(context_, s_->X.columns(0, std::ssize(pairs_.locked)));
  stagnation_.restart(result_.iterations);
  left_ = std::numeric_limits<double>::infinity();
  last_progress_ = result_.iterations;
  end_if_lost(basis.draw_front(context_));
}

/// A cycle ends with a full basis, or as soon as all awaited pairs have settled, which is tested
/// where that costs little compared with a step.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::cycle_ends() {
  const KrylovBasis<T, Ctx>& basis = s_->basis;
  if (basis.full()) return true;
  if (basis.order() == 0) return false;
  if (engine_.stop_requested()) return true;
  const auto k = static_cast<double>(basis.order());
  const double step = inverse_.factor_entries() * static_cast<double>(s_->shape.block);
  // Of copies of a value, a search finds a block at a time.
  const bool copies = options_.counts && missing_.count > 0;
  const Index least = (copies ? 1 : missing_.awaited(wanted_)) + s_->shape.block;
  if (basis.order() < least || 5 * k * k * k > step || !take_ritz_pairs()) return false;
  if (all_settled()) return true;
  return copies && !pairs_.leading.empty() && pairs_.others_rest(s_->ritz) &&
         std::all_of(pairs_.leading.begin(), pairs_.leading.end(),
                     [&](Index j) { return settled(j); });
}

/// Sets the values of the Ritz pairs and the order of those that count. False if numbers are not
/// finite.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::take_ritz_pairs() {
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  KrylovBasis<T, Ctx>& basis = s_->basis;
  basis.fetch_column(context_);
  pairs_.verified = false;
  if (!s_->ritz.solve(basis.projected().T(), basis.projected().column())) return false;
  pairs_.ritz_values.clear();
  for (Index j = 0; j < s_->ritz.order(); ++j)
    pairs_.ritz_values.push_back(pairs_.lambda_at(s_->ritz.value(j)));
  if (!pairs_.finite_counted) pairs_.limit_to_finite(pairs_.ritz_values);
  pairs_.leading.clear();
  for (const std::size_t j : nearest_places(pairs_.target, pairs_.ritz_values)) {
    pairs_.leading.push_back(static_cast<Index>(j));
  }
  // Beyond a limit, s counts the values between both, too.
  Index most_on_side = shift_.most_on_side();
  const auto [first, last] = std::minmax(pairs_.shift, pairs_.target.sigma);
  for (Index j = 0; j < s_->ritz.order(); ++j) {
    const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
    if (first < value && value < last && !pairs_.target.has(value) && settled(j)) --most_on_side;
  }
  wanted_ = std::min(wanted_, std::max<Index>(0, most_on_side));
  const Index most = std::min(missing_.awaited(wanted_) + pairs_.further,
                              s_->shape.pairs - std::ssize(pairs_.locked));
  if (std::ssize(pairs_.leading) > most) pairs_.leading.resize(static_cast<std::size_t>(most));
  return true;
}

template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::settled(Index j) const {
  const LanczosRitzOf<Wide<T>>& ritz = s_->ritz;
  // The factor is exact for a matrix that differs from A − sB by rounding errors of its size.
  const double growth =
      pairs_.reciprocal ? 1 : std::max(1.0, shift_.unit() * std::abs(ritz.value(j)));
  const double rounding = rounding_of_F<T>(ritz) * growth;
  const double fine = strictness_ * kSettled * std::sqrt(options_.tolerance);
  return ritz.residual(j) <= std::max(fine * std::abs(ritz.value(j)), rounding);
}

template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::all_settled() const {
  return std::ssize(pairs_.leading) >= missing_.awaited(wanted_) &&
         std::all_of(pairs_.leading.begin(), pairs_.leading.end(),
                     [&](Index j) { return settled(j); });
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::ritz() {
  ++result_.iterations;
  if (!take_ritz_pairs()) {
    return engine_.end(SolveStatus::breakdown, "products with A or B are not finite");
  }
  const bool lacks = std::ssize(pairs_.leading) < missing_.awaited(wanted_) && s_->basis.full();
  if (pairs_.reciprocal && lacks && !pairs_.finite_counted) {
    const auto finite = count_finite<T, Ctx>(context_, inverse_, options_, pairs_);
    wanted_ = std::min(wanted_, finite.value_or(wanted_));
    if (wanted_ == 0) return end_without_pairs();
    if (!shift_.factor_again()) return;
    take_ritz_pairs();
  }
  if (wanted_ == 0) return end_without_pairs();
  next_ = shift_.is_too_near(s_->ritz, missing_.awaited(wanted_)) ? AfterNearest::move_shift
          : stalls()                                              ? AfterNearest::grow
                                                                  : AfterNearest::thick_restart;
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::restart() {
  switch (std::exchange(next_, AfterNearest::thick_restart)) {
    case AfterNearest::search:
      return search();
    case AfterNearest::move_shift:
      if (shift_.move(s_->ritz)) start();
      return;
    case AfterNearest::grow:
      return grow();
    case AfterNearest::whole_space:
      return solve_whole();
    case AfterNearest::choose_again:
    case AfterNearest::thick_restart:
      return thick_restart();
  }
}

/// Whether the leading pairs have hardly come nearer to settling for some cycles, as in a cluster
/// of more values than the basis keeps, and a larger basis is possible.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::stalls() {
  if (pairs_.whole) return false;
  double left = 0;  // decades
  for (const Index j : pairs_.leading) {
    if (settled(j)) continue;
    const double fine = kSettled * std::sqrt(options_.tolerance) * std::abs(s_->ritz.value(j));
    left += 1 + std::max(0.0, std::log10(s_->ritz.residual(j) / fine));
  }
  left +=
      kMissingDecades * static_cast<double>(missing_.awaited(wanted_) - std::ssize(pairs_.leading));
  if (left < kProgress * left_) {
    left_ = left;
    last_progress_ = result_.iterations;
  }
  const Index most = (n_ - s_->shape.block) / s_->shape.block * s_->shape.block;
  return left > 0 && result_.iterations - last_progress_ >= kPatience && s_->shape.max_basis < most;
}

/// Starts again with a basis of twice the size.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::grow() {
  const auto locked = std::ssize(pairs_.locked);
  MultiVector<T, Space> kept(context_, rows_.local, std::max<Index>(locked, 1));
  if (locked > 0) {
    copy<T>(context_, s_->basis.locked_vectors().columns(held_, locked), kept.columns(0, locked));
  }
  const Index pairs =
      std::max(locked + missing_.awaited(wanted_), std::min(s_->shape.max_basis, n_ / 2));
  make_storage(nearest_shape(options_, n_, pairs + held_));
  if (locked > 0)
    copy<T>(context_, std::as_const(kept).columns(0, locked), s_->X.columns(0, locked));
  start();
}

/// Keeps the leading Ritz vectors and half of the others, those with the largest |θ|.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::thick_restart() {
  KrylovBasis<T, Ctx>& basis = s_->basis;
  const LanczosRitzOf<Wide<T>>& ritz = s_->ritz;
  const Index k = ritz.order();
  const Index b = s_->shape.block;
  const Index room = s_->shape.max_basis - basis.locked();
  const auto leading = std::ssize(pairs_.leading);
  const Index keep = std::min(leading + (k - leading) / 2, room - b);
  const Index kept = std::min(k, room - (room - keep + b - 1) / b * b);
  std::vector<Index> order = pairs_.leading;
  std::vector<Index> rest;
  for (Index j = 0; j < k; ++j) {
    if (std::find(pairs_.leading.begin(), pairs_.leading.end(), j) == pairs_.leading.end())
      rest.push_back(j);
  }
  std::stable_sort(rest.begin(), rest.end(), [&](Index i, Index j) {
    return std::abs(ritz.value(i)) > std::abs(ritz.value(j));
  });
  order.insert(order.end(), rest.begin(), rest.end());
  const SmallView<Wide<T>, HostSpace> Z = s_->chosen.view(k, kept);
  const SmallView<double, HostSpace> theta = s_->theta.view(kept, 1);
  const ConstSmallView<Wide<T>, HostSpace> all = s_->ritz.Z(k);
  for (Index l = 0; l < kept; ++l) {
    const Index j = order[static_cast<std::size_t>(l)];
    for (Index i = 0; i < k; ++i) Z(i, l) = all(i, j);
    theta(l, 0) = ritz.value(j);
  }
  basis.restart(context_, Z, theta);
}

/// Starts again with the pairs in X locked.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::search() {
  // Bounds of θ that assume a gap are refuted, those by residuals hold.
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  pairs_.locked.clear();
  for (const double value : verification_.values()) pairs_.locked.push_back({value, kUnbounded});
  const Index needed = std::ssize(pairs_.locked) + missing_.count;
  const Index held = needed + held_;
  if (held + 2 * s_->shape.block > s_->shape.max_basis || needed > s_->shape.pairs) {
    const NearestShape larger = nearest_shape(options_, n_, held);
    if (larger.max_basis == 0) {
      if (!give_up()) return solve_whole();
      trouble_ =
          fmt::format("{} eigenvalues lie as near to sigma, more than a basis holds", needed);
      return engine_.end(SolveStatus::max_iterations, trouble_);
    }
    MultiVector<T, Space> kept(context_, rows_.local, pairs_.count);
    copy<T>(context_, s_->X.columns(0, pairs_.count), kept.view());
    make_storage(larger);
    copy<T>(context_, std::as_const(kept).view(), s_->X.columns(0, pairs_.count));
    pairs_.verified = false;
  }
  pairs_.leading.clear();
  if (shift_.factor_again()) start();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
