#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/norm_of.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lanczos/copy_test.hpp>
#include <heddle/solvers/lanczos/pair_ledger.hpp>
#include <numeric>
#include <utility>

namespace heddle::detail {
namespace {

/// From this degree of a polynomial on, the products with A that measure residuals cost less than
/// the steps that they save.
constexpr int kDegreeWorthMeasuring = 50;

/// The smallest relative gap to the next Ritz value of an inverse for which error bounds hold.
constexpr double kLeastGap = 0.01;

/// The number of Ritz pairs beyond the wanted ones that stand for the next eigenvalues.
constexpr std::size_t kBeyond = 16;

/// Whether the error of the value of Ritz pair j of an inverse is at most the tolerance or
/// rounding, relative to its distance from σ. The error of a Ritz value with residual ρ is at most
/// ρ²/gap. The gap is assumed to be at least kLeastGap·θ.
struct SettledTest {
  const SpectralMap& map;
  const LanczosValues& ritz;
  double tolerance;
  double noise_floor;

  bool operator()(Index j) const {
    const double theta = ritz.value(j);
    const double rounding = noise_floor * map.condition(theta);
    const double fine = std::sqrt(kLeastGap * tolerance);
    return ritz.residual(j) <= std::max(fine, rounding) * theta;
  }
};

/// The Ritz pairs from number `first` on, with the widths of the intervals in which they locate an
/// eigenvalue towards the wanted end.
void list_beyond(const SpectralMap& map, const LanczosValues& ritz, Index first, PairList& beyond) {
  beyond.clear();
  const Index end = std::min(ritz.order(), first + static_cast<Index>(kBeyond));
  for (Index j = first; j < end; ++j) {
    const double lambda = map.lambda_at(ritz.value(j));
    const double edge = map.lambda_at(ritz.value(j) + ritz.residual(j));
    beyond.add(lambda, std::abs(lambda - edge), 0);
  }
}

/// Notes what the bounds of the first `earlier` pairs, and of those that a check has found, lack.
/// The pairs found are orthogonal to the earlier ones, yet the residual of an earlier pair i may
/// couple it to a pair found j. So the gap of i ends at j, and j changes by this coupling, too.
void forget_gaps(PairList& pairs, Index earlier, double norm_B) {
  const auto found = static_cast<std::size_t>(earlier);
  for (std::size_t i = 0; i < found; ++i) {
    for (std::size_t j = found; j < pairs.values.size(); ++j) {
      const double change = ErrorBounds::change(pairs.residuals[i] / norm_B,
                                                std::abs(pairs.values[i] - pairs.values[j]));
      pairs.excesses[i] = std::max(pairs.excesses[i], change - pairs.errors[i]);
      pairs.excesses[j] += change;
    }
  }
}

/// How far a value may be from the eigenvalue of its place, because values with larger errors reach
/// beyond it.
double displacement(std::span<const double> values, const std::vector<double>& errors,
                    std::size_t place) {
  return norm_of(0, std::ssize(errors), [&](Index i) {
    const auto j = static_cast<std::size_t>(i);
    const bool reaches = errors[j] > std::abs(values[j] - values[place]);
    return j != place && reaches ? errors[j] : 0;
  });
}

}  // namespace

PairLedger::PairLedger(const SpectralMap& map, const LanczosValues& ritz,
                       const BlockLanczosShape& shape)
    : map_(map),
      ritz_(ritz),
      n_(shape.n),
      nev_(shape.nev),
      block_(shape.block),
      max_basis_(shape.max_basis) {
  const auto pairs = static_cast<std::size_t>(shape.pairs());
  for (PairList* pairs_of : {&locked_, &wanted_}) {
    for (std::vector<double>* list : pairs_of->lists()) list->reserve(pairs);
  }
  for (PairList* pairs_of : {&beyond_, &beside_}) {
    for (std::vector<double>* list : pairs_of->lists()) list->reserve(pairs + kBeyond + 1);
  }
  for (std::vector<double>* list :
       {&scaled_, &roundings_, &own_errors_, &own_roundings_, &own_leasts_})
    list->reserve(pairs);
  own_order_.reserve(pairs);
  bounds_.reserve(shape.max_basis);
}

void PairLedger::reset(const EigenOptions& options, double epsilon, Index known) {
  criterion_ = options.criterion;
  tolerance_ = options.tolerance;
  epsilon_ = epsilon;
  convergence_ = {};
  norms_ = {};
  known_ = known;
  unlock();
  wanted_.clear();
  roundings_.clear();
  largest_rounding_ = 0;
  leading_ = 0;
  strictness_ = 1;
}

void PairLedger::set_norms(double norm_A, double norm_B) {
  norms_ = {norm_A, norm_B, true};
  convergence_ = EigenConvergence(criterion_, tolerance_, norm_A, norm_B, epsilon_);
}

Index PairLedger::converged() const noexcept {
  return checking_ ? std::max<Index>(0, nev_ - (missed() - leading_))
                   : std::min(nev_, locked() + leading_);
}

double PairLedger::first_value() const {
  const auto found = known_ < wanted_.size() ? static_cast<std::ptrdiff_t>(known_) : 0;
  return *std::min_element(wanted_.values.begin() + found, wanted_.values.end(),
                           [&](double a, double b) { return map_.before(a, b); });
}

double PairLedger::last_value() const {
  return *std::max_element(wanted_.values.begin(), wanted_.values.end(),
                           [&](double a, double b) { return map_.before(a, b); });
}

double PairLedger::worst_residual() const noexcept {
  double worst = 0;
  for (std::size_t j = 0; j < wanted_.values.size(); ++j) {
    keep_worst(worst, convergence_.scaled_residual(wanted_.values[j], wanted_.residuals[j]));
  }
  return worst;
}

std::span<const double> PairLedger::scaled_residuals() {
  scaled_.clear();
  const Index count = std::min(wanted_.size(), nev_);
  for (std::size_t j = 0; j < static_cast<std::size_t>(count); ++j) {
    scaled_.push_back(convergence_.scaled_residual(wanted_.values[j], wanted_.residuals[j]));
  }
  return scaled_;
}

double PairLedger::residual_of(Index j) const noexcept {
  // ‖x‖ = 1 in the B-inner product, and ‖C x − λ x‖ there is ‖A x − λ B x‖ in the norm of B⁻¹.
  return norms_.B * map_.residual_bound(ritz_.value(j), ritz_.residual(j));
}

void PairLedger::take_bounds() {
  bounds_.clear();
  for (Index j = 0; j < ritz_.order(); ++j) bounds_.add(ritz_.value(j), ritz_.residual(j));
  bounds_.compute(ErrorBounds::kUnknown, ErrorBounds::kNoneBeyond, ritz_.front_value());
  wanted_ = locked_;
  roundings_.clear();
  const Index active = std::min(ritz_.order(), checking_ ? missed() : nev_ - locked());
  for (Index j = 0; j < active; ++j) {
    wanted_.add(map_.lambda_at(ritz_.value(j)), residual_of(j),
                map_.value_error(ritz_.value(j), bounds_.bound(j)), bounds_.spread(j));
  }
  if (!checking_) list_beyond(map_, ritz_, active, beyond_);
  must_settle_ = map_.inverts();
  count_leading();
}

/// Counts the leading active pairs that pass.
void PairLedger::count_leading() {
  const auto passes = [&](std::size_t j) {
    const double rounding = checking_               ? largest_rounding_
                            : j < roundings_.size() ? roundings_[j]
                                                    : 0;
    const double lambda = wanted_.values[j];
    return convergence_.passes(lambda, wanted_.residuals[j], strictness_) &&
           (convergence_.value_passes(lambda, wanted_.errors[j], rounding, strictness_) ||
            convergence_.is_zero(lambda, wanted_.residuals[j]));
  };
  const SettledTest settled{map_, ritz_, tolerance_, convergence_.noise_floor()};
  leading_ = 0;
  while (locked() + leading_ < wanted_.size() && (!must_settle_ || settled(leading_)) &&
         passes(static_cast<std::size_t>(locked() + leading_))) {
    ++leading_;
  }
}

void PairLedger::judge_roundings(const std::function<std::span<const double>()>& measure) {
  if (checking_ || locked() + leading_ >= wanted_.size()) return;
  const auto next = static_cast<std::size_t>(locked() + leading_);
  const double lambda = wanted_.values[next];
  if (!convergence_.passes(lambda, wanted_.residuals[next], strictness_)) return;
  if (convergence_.value_passes(lambda, wanted_.errors[next], 0, strictness_)) return;
  const std::span<const double> roundings = measure();
  roundings_.assign(roundings.begin(), roundings.end());
  for (const double each : roundings_) largest_rounding_ = std::max(largest_rounding_, each);
  count_leading();
}

Neighbours PairLedger::neighbours(std::span<const double> measured) {
  const CopyTest test{map_, convergence_, locked_, norms_, epsilon_, largest_rounding_};
  const Index next = missed();
  beside_ = beyond_;
  if (checking_ && next < ritz_.order()) {
    // Of zeros, rounding decides which ones are wanted. Their bounds depend on further zeros.
    const double lambda = map_.lambda_at(ritz_.value(next));
    if (convergence_.is_zero(lambda, 0)) beside_.add(lambda, residual_of(next) / norms_.B, 0);
  }
  Neighbours others{.values = beside_.values, .residuals = beside_.residuals};
  (map_.sign() > 0 ? others.below : others.above) = ErrorBounds::kNoneBeyond;
  others.end = map_.sign() > 0 ? Which::smallest : Which::largest;
  const auto [from_locked, active] = best();
  if (from_locked + active != std::ssize(measured)) return others;
  std::vector<std::size_t>& order = own_order_;
  order.clear();
  for (Index i = 0; i < from_locked + active; ++i) {
    order.push_back(static_cast<std::size_t>(i < from_locked ? i : locked() + i - from_locked));
  }
  const std::vector<double>& values = wanted_.values;
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return map_.before(values[i], values[j]) || (values[i] == values[j] && i < j);
  });
  own_errors_.clear();
  own_roundings_.clear();
  own_leasts_.clear();
  const double noise = noise_of_projection(map_, norms_, epsilon_, first_value());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t j = order[place];
    const double rounding = map_.value_error(map_.theta_of(values[j]), noise);
    const double change = std::abs(values[j] - measured[place]);
    own_errors_.push_back(wanted_.errors[j] +
                          (map_.inverts() ? change : std::max(0.0, change - rounding)));
    const bool is_locked = checking_ && j < locked_.values.size();
    const double gap_lost = is_locked ? test.lacking(ritz_, next, j) : 0;
    own_roundings_.push_back(rounding + std::max(wanted_.excesses[j], gap_lost));
    own_leasts_.push_back(wanted_.leasts[j]);
  }
  for (std::size_t place = 0; place < own_errors_.size(); ++place) {
    own_roundings_[place] += displacement(measured, own_errors_, place);
  }
  others.own_bounds = own_errors_;
  others.own_roundings = own_roundings_;
  others.least_bounds = own_leasts_;
  return others;
}

bool PairLedger::worth_measuring(bool full) const {
  if (checking_) return false;
  // Under a filter of high degree, the error of x lies mostly in eigenvectors whose λ are close to
  // its own, although their θ are not. Such an error contributes little to ‖A x − λ x‖ but much to
  // its bound.
  if (!map_.inverts()) return map_.degree() > kDegreeWorthMeasuring;
  // Under an inverse, errors in eigenvectors near the wanted end contribute little to measured
  // residuals.
  if (!full) return false;  // further steps may make the bounds small enough
  const Index active = nev_ - locked();
  if (leading_ >= active || active > ritz_.order()) return false;
  const SettledTest settled{map_, ritz_, tolerance_, convergence_.noise_floor()};
  Index j = leading_;
  while (j < active && settled(j)) ++j;
  return j == active;
}

void PairLedger::take_measured(std::span<const double> values, std::span<const double> residuals) {
  for (std::size_t j = 0; j < wanted_.values.size(); ++j) {
    if (!map_.inverts()) wanted_.values[j] = values[j];
    wanted_.residuals[j] = residuals[j];
  }
  must_settle_ = false;  // because residuals are measured
  count_leading();
}

Index PairLedger::missed() const noexcept {
  if (!checking_) return 0;
  const Index room = max_basis_ - locked();
  const Index most = std::min(ritz_.order(), std::max<Index>(1, room / 2));
  Index j = 0;
  const CopyTest test{map_, convergence_, locked_, norms_, epsilon_, largest_rounding_};
  while (j < most && test.is_better(map_.lambda_at(ritz_.value(j)))) ++j;
  return j;
}

bool PairLedger::same_value(double a, double b) const noexcept {
  const double distance = norms_.B * std::abs(a - b);
  if (convergence_.scaled_residual(a, distance) <= convergence_.noise_floor()) return true;
  if (!map_.inverts()) return convergence_.passes(a, distance);
  return std::abs(map_.theta_of(a) - map_.theta_of(b)) <= tolerance_ * map_.theta_of(a);
}

PairLedger::Best PairLedger::best() const noexcept {
  Best best{std::min(locked(), nev_), 0};
  const Index active = wanted_.size() - locked();
  best.active = std::min(nev_ - best.locked, active);
  const auto value = [&](Index j) { return wanted_.values[static_cast<std::size_t>(j)]; };
  // Pairs that a check has found take the places of the last locked ones.
  for (; best.active < active && best.locked > 0; ++best.active) {
    if (!map_.before(value(locked() + best.active), value(best.locked - 1))) break;
    --best.locked;
  }
  return best;
}

Index PairLedger::lock_exact(Index most, double rounding) {
  if (checking_) return 0;
  most = std::min({leading_, most, nev_ - locked()});
  Index j = 0;
  for (; j < most && ritz_.residual(j) <= rounding; ++j) {
    const auto pair = static_cast<std::size_t>(locked());
    locked_.add(map_.lambda_at(ritz_.value(j)), residual_of(j), wanted_.errors[pair],
                wanted_.spreads[pair]);
  }
  return j;
}

std::vector<Index> PairLedger::begin_check(std::span<const double> roundings) {
  for (const double each : roundings) largest_rounding_ = std::max(largest_rounding_, each);
  const Index earlier = checking_ ? locked() : wanted_.size();
  if (!checking_) {
    const double noise = noise_of_projection(map_, norms_, epsilon_, first_value());
    const CrowdTest crowds{map_, ritz_, wanted_, known_, locked(), noise};
    const double wider = std::sqrt(static_cast<double>(n_) / static_cast<double>(block_));
    for (Index j = known_; j < wanted_.size(); ++j) {
      const auto pair = static_cast<std::size_t>(j);
      wanted_.leasts[pair] = wider * crowds.width(pair, block_);
    }
  }
  checking_ = true;
  locked_ = wanted_;
  forget_gaps(locked_, earlier, norms_.B);
  const std::vector<double>& values = locked_.values;
  const auto before = [&](double a, double b) { return map_.before(a, b); };
  if (std::is_sorted(values.begin(), values.end(), before) && locked() == nev_) return {};
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto value = [&](Index j) { return values[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](Index i, Index j) { return before(value(i), value(j)); });
  const PairList all = locked_;
  locked_.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto j = static_cast<std::size_t>(order[i]);
    PairList& list = std::ssize(locked_.values) < nev_ ? locked_ : beyond_;
    list.add(all.values[j], all.residuals[j], all.errors[j], all.spreads[j], all.excesses[j],
             all.leasts[j]);
  }
  order.resize(static_cast<std::size_t>(nev_));
  return order;
}

std::vector<Index> PairLedger::reopen(const PairList& measured, const std::vector<bool>& passed) {
  std::vector<Index> refuted;
  const bool known = std::ssize(own_order_) == nev_;  // the bounds that were verified are own ones
  locked_.clear();
  for (std::size_t j = 0; j < static_cast<std::size_t>(nev_); ++j) {
    if (passed[j]) {
      const double spread = known ? wanted_.spreads[own_order_[j]] : 0;
      const double measured_spread = map_.inverts()
                                         ? 0
                                         : map_.residual_of_F(map_.theta_of(measured.values[j]),
                                                              measured.residuals[j] / norms_.B);
      locked_.add(measured.values[j], measured.residuals[j], measured.errors[j],
                  std::max(spread, measured_spread));
    } else {
      refuted.push_back(static_cast<Index>(j));
    }
  }
  checking_ = refuted.empty();  // nothing else is left to iterate on
  return refuted;
}

void PairLedger::unlock() {
  locked_.clear();
  for (Index j = 0; j < known_; ++j) locked_.add(0, 0, 0);
  beyond_.clear();
  checking_ = false;
}

void PairLedger::archive(Archive& archive) {
  archive.values(convergence_, norms_, strictness_, checking_, largest_rounding_);
  for (PairList* pairs : {&locked_, &beyond_}) {
    for (std::vector<double>* list : pairs->lists()) archive.list(*list);
  }
}

}  // namespace heddle::detail
