#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>

/// The claim of a solve for the pairs nearest to σ, and the counts that prove it.
namespace heddle::detail {
namespace {

/// The places of the ends of a count within their gaps, in the order in which they are tried.
constexpr double kParts[] = {0.2, 0.35, 0.1, 0.5};

/// How much finer residuals must be after a count has shown that pairs are missing: in a cluster,
/// the vectors that were found may be mixtures.
constexpr double kStricter = 0.1;

/// With this many refuted claims, a dense solve follows where it may.
constexpr Index kRefutedBefore = 2;

/// Searches for missing pairs that find none, after which a result is not proven.
constexpr Index kMostSearches = 8;

}  // namespace

/// The numbers of eigenvalues below the ends. Nothing if a factor is not certain.
template <Scalar T, class Ctx>
std::optional<LimitCounts> NearestSolve<T, Ctx>::counts_at(const CountedInterval& ends) {
  LimitCounts counts = options_.counts.value_or(LimitCounts{});
  const bool counted = options_.counts.has_value();
  if (!counted || ends.lower != options_.lower) {
    if (!inverse_.factor(context_, ends.lower)) return std::nullopt;
    counts.lower = inverse_.below();
  }
  if (!counted || ends.upper != options_.upper) {
    if (!inverse_.factor(context_, ends.upper)) return std::nullopt;
    counts.upper = inverse_.below();
  }
  return counts;
}

/// Whether the basis shows fewer settled pairs between counted limits than there are, as of copies
/// of a value, and all of its other pairs lie beyond the limits.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::lacks_copies() const {
  const Target& target = pairs_.target;
  if (!target.counted || std::ssize(pairs_.leading) >= awaited() || !leading_settled()) {
    return false;
  }
  for (Index j = 0; j < s_->ritz.order(); ++j) {
    if (std::find(pairs_.leading.begin(), pairs_.leading.end(), j) != pairs_.leading.end())
      continue;
    const double theta = s_->ritz.value(j);
    const double residual = s_->ritz.residual(j);
    if (target.has(pairs_.lambda_at(theta - residual)) ||
        target.has(pairs_.lambda_at(theta + residual))) {
      return false;
    }
  }
  return true;
}

/// Locks the pairs that the basis shows. A search for the others is next.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::search_copies() {
  const CountedInterval limits{options_.lower, options_.upper};
  if (!verification_.measure_best(convergence_, true).residuals) {
    strictness_ *= kStricter;
    return;
  }
  const Index known = verification_.inside(limits);
  const Index all = options_.counts->between();
  if (known >= all || search_for(all - known, known)) return;
  trouble_ = fmt::format("{} eigenvalues lie between the limits, {} were found", all, known);
  engine_.end(SolveStatus::stagnated, trouble_);
}

/// A search for `missed` pairs is next, where it is not without prospects. `known`: pairs that are
/// there.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::search_for(Index missed, Index known) {
  searches_ = known > known_at_search_ ? 1 : searches_ + 1;
  if (searches_ > kMostSearches) return false;
  known_at_search_ = known;
  missed_ = missed;
  next_ = AfterNearest::search;
  strictness_ *= kStricter;
  return true;
}

/// Claims convergence if fresh products confirm all leading pairs, and the count finds no others.
template <Scalar T, class Ctx>
Claim NearestSolve<T, Ctx>::claim() {
  if (next_ != AfterNearest::thick_restart) return Claim::none;
  if (lacks_copies()) search_copies();
  if (next_ != AfterNearest::thick_restart || !all_settled()) return Claim::none;
  const Verdict verdict = verification_.measure_best(convergence_, true);
  if (!verdict.confirmed()) {
    const bool may_pass = verdict.residuals && convergence_.bounds_values();
    lenient_ =
        may_pass && strictness_ < 1 && verification_.judge(convergence_.at_rounding()).confirmed();
    if (!lenient_) {
      strictness_ *= kStricter;
      return ++refuted_ < kRefutedBefore || give_up() ? Claim::refuted : Claim::none;
    }
  }
  return count() ? Claim::confirmed : Claim::none;
}

/// Whether the counted eigenvalues are those that were found, or cannot be counted. If not, a
/// search for the others is next.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::count() {
  std::vector<double> found;
  for (const std::size_t place : verification_.best(wanted_)) {
    found.push_back(verification_.values()[place]);
  }
  for (const double part : kParts) {
    const auto ends = wants_all()
                          ? CountedInterval{options_.lower, options_.upper}
                          : interval_to_count(pairs_.target, found, verification_.others(), part);
    if (!ends) return proven_ = true;
    if (engine_.stop_requested()) return true;
    engine_.begin_stage("counting eigenvalues");
    const std::optional<LimitCounts> counts = counts_at(*ends);
    if (!counts) continue;
    const Index expected = counts->between();
    const Index known = verification_.inside(*ends);
    proven_ = known == expected;
    mismatch_ = !proven_;
    pairs_.numbers = *counts;
    if (proven_) return bounds_hold(*ends);
    return known >= expected || (!search_for(expected - known, known) && give_up());
  }
  return true;
}

/// Whether the errors of the values pass although other eigenvalues may lie just beyond the ends of
/// a count. If not, as in a cluster that is not resolved, the iteration goes on.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::bounds_hold(const CountedInterval& ends) {
  pairs_.counted = ends;
  const EigenConvergence convergence = lenient_ ? convergence_.at_rounding() : convergence_;
  if (verification_.judge(convergence).confirmed()) return true;
  lenient_ = pairs_.whole && verification_.judge(convergence_.at_rounding()).confirmed();
  if (lenient_) return true;
  strictness_ *= kStricter;
  proven_ = false;
  factor_again();
  return false;
}

/// Factors A − sB again after a count. Ends the solve if that fails.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::factor_again() {
  if (inverse_.shift() == pairs_.shift || inverse_.factor(context_, pairs_.shift)) return true;
  engine_.end(SolveStatus::breakdown, "A - sigma B could not be factored again");
  return false;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
