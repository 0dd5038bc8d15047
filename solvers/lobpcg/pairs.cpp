#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lobpcg/pairs.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

/// Share of the tolerance at which pairs are locked (as in Anasazi).
constexpr double kLockingFactor = 0.1;
/// Steps without locking after which kPatientLockingFactor is used, and those after which pairs are
/// locked that only just pass.
constexpr Index kLockingPatience = 100;
constexpr double kPatientLockingFactor = 0.3;
constexpr Index kLastPatience = 400;

/// Steps may improve residuals that are above this share of the noise floor: that of a vector in
/// soft rows is far below the noise floor, which belongs to the stiffest rows.
constexpr double kImproving = 0.01;

/// The steps for which guard vectors of a random start are awaited, if the wanted pairs took fewer.
constexpr Index kGuardPatience = 100;

/// Values that differ by this share of the noise floor are equal up to rounding.
constexpr double kEqualShare = 0.1;

/// The number of pairs that must be ready before pairs are locked. `columns`: those of X.
Index enough_to_lock(Index nev, Index block, Index columns) noexcept {
  return std::min(std::max<Index>(1, std::min(nev / 2, block / 4)), columns);
}

/// The factor on what the criterion allows at which pairs are locked, `waited` steps after the last
/// ones.
double locking_factor(const EigenConvergence& convergence, double tolerance,
                      Index waited) noexcept {
  if (kLockingFactor * tolerance < convergence.noise_floor()) return 1;
  // Locked vectors are not improved any more. Their errors couple to X and may keep its residuals
  // above a tenth of the tolerance.
  if (waited > kLastPatience) return 1;
  return waited > kLockingPatience ? kPatientLockingFactor : kLockingFactor;
}

/// Whether all wanted pairs pass.
bool all_pass(const LobpcgPairs& pairs) noexcept {
  return !pairs.more_to_come() && pairs.leading() >= pairs.wanted_in_X();
}

/// The conditions under which a pair is locked. Locked vectors do not improve any more. So rounding
/// does not excuse the error of a value while its residual is above rounding: the rounding errors
/// belong to the vector. If several values are nearly equal, a Rayleigh–Ritz step makes other
/// vectors of them, some of which may have smaller rounding errors. `waited`: steps since pairs
/// were locked.
PairLimits limits_of_locking(const LobpcgPairs& pairs, const EigenOptions& options, Index waited) {
  return {locking_factor(pairs.convergence(), options.tolerance, waited),
          pairs.more_to_come() && waited > kLockingPatience};
}

}  // namespace

LobpcgPairs::LobpcgPairs(Index nev, Index block) : block_(block) {
  const Index widest = widest_start(block);
  for (auto* list :
       {&residuals_, &residuals_before_, &dual_residuals_, &value_bounds_, &roundings_}) {
    list->resize(static_cast<std::size_t>(widest));
  }
  locked_.reserve(nev, block);
  bounds_.reserve(nev + 2 * widest + 1);
}

void LobpcgPairs::reset(const EigenOptions& options, Index zeros) {
  options_ = &options;
  convergence_ = {};
  locked_.reset(options.which, zeros);
  leading_ = resting_ = wanted_in_X_ = comparable_steps_ = last_lock_ = 0;
  waiting_since_ = 0;
  more_to_come_ = waited_ = false;
  strictness_ = 1;
  evidence_ = {};
}

LobpcgPairs::Numbers LobpcgPairs::next_numbers() {
  ++comparable_steps_;
  std::swap(residuals_, residuals_before_);
  return {residuals_, dual_residuals_, roundings_};
}

bool LobpcgPairs::passes(const RitzValues& ritz, Index j, const PairLimits& limits,
                         bool exact) const {
  const auto column = static_cast<std::size_t>(j);
  const double theta = ritz.theta[column];
  const double factor = strictness_ * limits.factor;
  if (!convergence_.passes(theta, residuals_[column], factor)) return false;
  if (exact && convergence_.residual_is_rounding(theta, residuals_[column])) return true;
  // A claim that was refuted may have failed at the rounding of a value, too.
  const bool improves = !convergence_.residual_is_rounding(theta, residuals_[column] / kImproving);
  const double rounding = limits.rounding || !improves ? strictness_ * roundings_[column] : 0;
  const bool value = convergence_.value_passes(theta, value_bounds_[column], rounding, factor) ||
                     convergence_.is_zero(theta, residuals_[column]);
  return value && (exact || convergence_.settled(theta, ritz.change[column]));
}

bool LobpcgPairs::bound_errors(const RitzValues& ritz, bool exact) {
  bounds_.clear();
  for (std::size_t j = 0; j < ritz.theta.size(); ++j) {
    bounds_.add(ritz.theta[j], dual_residuals_[j]);
    roundings_[j] = 0;
  }
  for (std::size_t j = 0; j < locked_.values().size(); ++j) {
    bounds_.add(locked_.values()[j], locked_.dual_residuals()[j]);
  }
  const auto unseen = locked_.unseen(ritz.theta, dual_residuals_, convergence_);
  if (unseen) bounds_.add(*unseen, 0, false);
  const double inner = exact ? ErrorBounds::kNoneBeyond : ErrorBounds::kUnknown;
  const bool smallest = options_->which == Which::smallest;
  bounds_.compute(smallest ? ErrorBounds::kNoneBeyond : inner,
                  smallest ? inner : ErrorBounds::kNoneBeyond);
  for (std::size_t j = 0; j < ritz.theta.size(); ++j) {
    value_bounds_[j] = bounds_.bound(static_cast<Index>(j));
  }
  for (std::size_t j = 0; j < ritz.theta.size(); ++j) {
    const double theta = ritz.theta[j];
    if (!convergence_.passes(theta, residuals_[j], strictness_)) return false;
    if (!convergence_.value_passes(theta, value_bounds_[j], 0, strictness_)) return true;
  }
  return false;
}

void LobpcgPairs::count(const RitzValues& ritz, bool exact, Index iteration) {
  // Of copies of one eigenvalue, rounding would put new ones before the locked ones for ever.
  const double rounding = kEqualShare * convergence_.noise_floor();
  wanted_in_X_ = 0;
  for (Index j = 0; j < ritz.count(); ++j) {
    const double theta = ritz.theta[static_cast<std::size_t>(j)];
    if (j + locked_.ahead(theta, rounding) < options_->nev) ++wanted_in_X_;
  }
  const double digits = std::max(rounding, options_->tolerance);
  const Index before =
      ritz.theta.empty() ? locked() : ritz.count() + locked_.ahead(ritz.theta.back(), digits);
  more_to_come_ = !exact && before < options_->nev;
  // If all of X must be locked before further pairs are iterated, a column keeps its search
  // directions until its residual is small enough for locking.
  // Nor may a narrow block end a solve without guard vectors, which locked columns make room for.
  const bool unguarded = !exact && block_ < options_->nev && wanted_in_X_ == ritz.count();
  const Index waited = iteration - last_lock_;
  const PairLimits limits =
      more_to_come_ || unguarded
          ? PairLimits{locking_factor(convergence_, options_->tolerance, waited),
                       waited > kLockingPatience}
          : PairLimits{};
  leading_ = resting_ = 0;
  const PairLimits rest{limits.factor, false};
  for (Index j = 0; j < ritz.count(); ++j) {
    if (leading_ == j && passes(ritz, j, limits, exact)) ++leading_;
    if (resting_ == j && passes(ritz, j, rest, exact)) ++resting_;
  }
  const bool waits = all_pass(*this) && !evidence_.shows_all(guards(ritz), false);
  if (!waits) waiting_since_ = iteration;
  waited_ = waits && iteration - waiting_since_ >= std::max(kGuardPatience, waiting_since_);
}

bool LobpcgPairs::decision_due(const RitzValues& ritz, Index iteration) const {
  if (comparable_steps_ < 2 || iteration >= options_->max_iterations) return true;
  const auto may_arrive = [&](Index pairs, double factor) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(pairs); ++j) {
      const double theta = ritz.theta[j];
      const double fall = 0.5 * std::min(1.0, residuals_[j] / residuals_before_[j]);
      const double expected = fall * residuals_[j];
      if (!convergence_.passes(theta, expected, strictness_ * factor)) return false;
      if (expected <= convergence_.noise_floor() * convergence_.scale(theta)) continue;
      // Bounds of values fall like squares of residuals, or like residuals.
      const double bound = fall * fall * value_bounds_[j];
      if (!convergence_.value_passes(theta, bound, roundings_[j], strictness_ * factor)) {
        return false;
      }
    }
    return true;
  };
  const Index enough = enough_to_lock(options_->nev, block_, ritz.count());
  return may_arrive(wanted_in_X_, 1) ||
         (enough <= wanted_in_X_ &&
          may_arrive(enough, locking_factor(convergence_, options_->tolerance,
                                            iteration - 1 - last_lock_)));
}

bool LobpcgPairs::all_converged(const RitzValues& ritz, bool guessed) const {
  return all_pass(*this) && ((waited_ && !guessed) || evidence_.shows_all(guards(ritz), guessed));
}

Index LobpcgPairs::at_rest(const RitzValues& ritz, bool guessed) const {
  return awaited_guards(ritz, guessed) > 0 ? std::min(resting_, wanted_in_X_) : resting_;
}

Index LobpcgPairs::awaited_guards(const RitzValues& ritz, bool guessed) const {
  const bool awaited = all_pass(*this) && !all_converged(ritz, guessed);
  return awaited ? GuardEvidence::tested(guards(ritz), guessed) : 0;
}

GuardVectors LobpcgPairs::guards(const RitzValues& ritz) const {
  const auto wanted = static_cast<std::size_t>(wanted_in_X_);
  const auto count = ritz.theta.size() - wanted;
  return {.theta = ritz.theta.subspan(wanted),
          .residuals = std::span(residuals_).subspan(wanted, count),
          .dual_residuals = std::span(dual_residuals_).subspan(wanted, count),
          .wanted = ritz.theta.first(wanted),
          .locked = locked_.values()};
}

Index LobpcgPairs::lockable(const RitzValues& ritz, bool guessed, bool exact,
                            Index iteration) const {
  // Where all of X is to be locked, pairs that are none of the best leave Y.
  const Index in_Y = more_to_come_ ? std::min(locked(), options_->nev - wanted_in_X_) : locked();
  const Index room = options_->nev + block_ - in_Y;
  // Bounds assume a gap up to the guard vectors. Locked pairs would not improve if guard vectors
  // that have just been replaced come to fill it. Guesses may be pairs beyond the wanted ones,
  // whose places in X the missing ones take, until all of X has converged.
  if (guessed && !evidence_.shows_all(guards(ritz), guessed)) {
    const bool all = std::min(leading_, wanted_in_X_) == ritz.count();
    return all ? std::min(ritz.count(), room) : 0;
  }
  const PairLimits limits = limits_of_locking(*this, *options_, iteration - last_lock_);
  Index k = 0;
  while (k < std::min({leading_, wanted_in_X_, room}) && passes(ritz, k, limits, exact)) ++k;
  return k < enough_to_lock(options_->nev, block_, ritz.count()) ? 0 : k;
}

void LobpcgPairs::lock(const RitzValues& ritz, Index k, Index iteration) {
  const auto count = static_cast<std::size_t>(k);
  const auto end = static_cast<std::ptrdiff_t>(k);
  locked_.add(ritz.theta.first(count), std::span(residuals_).first(count),
              std::span(dual_residuals_).first(count));
  for (auto* list : {&residuals_, &dual_residuals_}) {
    std::copy(list->begin() + end, list->begin() + ritz.count(), list->begin());
  }
  leading_ -= k;
  resting_ = std::max<Index>(0, resting_ - k);
  wanted_in_X_ -= k;
  last_lock_ = iteration;
  forget_order();
}

Index LobpcgPairs::converged() const noexcept {
  const Index best_locked = std::min(locked(), options_->nev - wanted_in_X_);
  return best_locked + std::min(leading_, wanted_in_X_);
}

double LobpcgPairs::worst_residual(const RitzValues& ritz, Index guards) const {
  double worst = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(wanted_in_X_ + guards); ++j) {
    keep_worst(worst, convergence_.scaled_residual(ritz.theta[j], residuals_[j]));
  }
  return worst;
}

double LobpcgPairs::least_residual(const RitzValues& ritz, Index first) const {
  double least = std::numeric_limits<double>::infinity();
  for (auto j = static_cast<std::size_t>(first); j < ritz.theta.size(); ++j) {
    const double residual = convergence_.scaled_residual(ritz.theta[j], residuals_[j]);
    if (std::isnan(residual)) return residual;
    least = std::min(least, residual);
  }
  return least;
}

void LobpcgPairs::list(const RitzValues& ritz, std::vector<double>& values,
                       std::vector<double>& residuals) const {
  values.assign(locked_.values().begin(), locked_.values().end());
  residuals.assign(locked_.residuals().begin(), locked_.residuals().end());
  for (std::size_t j = 0; j < static_cast<std::size_t>(wanted_in_X_); ++j) {
    values.push_back(ritz.theta[j]);
    residuals.push_back(residuals_[j]);
  }
  for (std::size_t j = 0; j < values.size(); ++j) {
    residuals[j] = convergence_.scaled_residual(values[j], residuals[j]);
  }
}

void LobpcgPairs::list_others(const RitzValues& ritz, Index from_Y, Index from_X,
                              std::vector<double>& values, std::vector<double>& residuals) const {
  values.clear();
  residuals.clear();
  for (Index i = 0; i < locked(); ++i) {
    if (locked_.is_best(i, from_Y)) continue;
    values.push_back(locked_.values()[static_cast<std::size_t>(i)]);
    residuals.push_back(locked_.dual_residuals()[static_cast<std::size_t>(i)]);
  }
  for (auto j = static_cast<std::size_t>(from_X); j < ritz.theta.size(); ++j) {
    values.push_back(ritz.theta[j]);
    residuals.push_back(dual_residuals_[j]);
  }
}

Index block_wanted(const LobpcgPairs& pairs, Index nev, Index block) noexcept {
  const Index guards = nev < block ? block - nev : std::max<Index>(2, block / 4);
  return std::min(block, std::max(nev - pairs.locked(), pairs.wanted_in_X()) + guards);
}

void LobpcgPairs::archive(Archive& archive) {
  archive.values(convergence_, leading_, resting_, wanted_in_X_, more_to_come_, comparable_steps_,
                 last_lock_, waiting_since_, waited_, strictness_);
  evidence_.archive(archive);
  for (auto* list :
       {&residuals_, &residuals_before_, &dual_residuals_, &value_bounds_, &roundings_}) {
    archive.list(*list);
  }
  locked_.archive(archive);
}

}  // namespace heddle::detail
