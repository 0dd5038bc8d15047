#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/nearest/counts.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>
#include <string_view>

/// The claim of a solve for the pairs nearest to σ, and the counts that prove it.
namespace heddle::detail {
namespace {

/// The ends of a count, in the order in which they are tried, see `interval_to_count`.
struct Ends {
  double part, wider;
};
constexpr Ends kEnds[] = {{0.2, 1},   {0.35, 1},   {0.1, 1},      {0.5, 1},     {0.2, 16},
                          {0.2, 256}, {0.2, 4096}, {0.2, 0x1p16}, {0.2, 0x1p20}};

/// Up to this order, a dense solve follows where no factor counts.
constexpr Index kDenseCount = 1024;

/// How much finer residuals must be after a count has shown that pairs are missing: in a cluster,
/// the vectors that were found may be mixtures.
constexpr double kStricter = 0.1;

/// With this many refuted claims, a dense solve follows where it may.
constexpr Index kRefutedBefore = 4;

constexpr std::string_view kUncounted =
    "no certain factor counts the eigenvalues, of which some have fewer than six digits";

std::string some_are_missing(Index known, Index all) {
  return fmt::format("{} eigenvalues lie between the limits, {} were found", all, known);
}

}  // namespace

/// A search for others is next where the basis shows fewer settled pairs between counted limits
/// than there are, as of copies of a value, and all its other pairs lie beyond the limits.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::search_copies() {
  if (pairs_.leading.empty() && pairs_.locked.empty()) return;
  const bool settled = std::all_of(pairs_.leading.begin(), pairs_.leading.end(),
                                   [&](Index j) { return this->settled(j); });
  if (!options_.counts || !settled || std::ssize(pairs_.leading) >= missing_.awaited(wanted_) ||
      !pairs_.others_rest(s_->ritz)) {
    return;
  }
  if (!verification_.measure_best(convergence_, true).residuals) {
    strictness_ *= kStricter;
    return;
  }
  const Index known = verification_.inside({options_.lower, options_.upper});
  const Index all = options_.counts->between();
  if (known >= all) return;
  if (missing_.begin(all - known, known)) {
    next_ = AfterNearest::search;
    strictness_ *= kStricter;
    return;
  }
  trouble_ = some_are_missing(known, all);
  engine_.end(SolveStatus::stagnated, trouble_);
}

/// Claims convergence if fresh products confirm all leading pairs, and the count finds no others.
template <Scalar T, class Ctx>
Claim NearestSolve<T, Ctx>::claim() {
  if (next_ != AfterNearest::thick_restart) return Claim::none;
  search_copies();
  if (next_ != AfterNearest::thick_restart || !all_settled()) return Claim::none;
  Verdict verdict = verification_.measure_best(convergence_, true);
  if (!verdict.confirmed() && pairs_.whole && !pairs_.reciprocal && pairs_.given.empty()) {
    verdict = verification_.improve(convergence_, inverse_);
  }
  if (verification_.choose_again(wanted_)) {
    next_ = AfterNearest::choose_again;
    return Claim::none;
  }
  if (verification_.lacks_pairs(wanted_)) {
    return ++refuted_ < kRefutedBefore || give_up() ? Claim::refuted : Claim::none;
  }
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
/// search for the others is next, or the iteration goes on, as in a cluster that is not resolved:
/// other eigenvalues may lie just beyond the ends of the count. A solve that is asked to stop
/// before it has counted ends without the proof, so not as converged. A dense solve follows where
/// values have no six digits that it may have: digits that the entries lack are excused where the
/// count is proven. Else pairs may be missing among such values.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::count() {
  std::vector<double> found;
  Target target = pairs_.target;
  for (const std::size_t place : verification_.best(wanted_)) {
    found.push_back(verification_.values()[place]);
    target.rounding = verification_.rounding(place);
  }
  const auto has_digits = [&](bool excuses) {
    return pairs_.whole || !verification_.lacks_digits(excuses);
  };
  const bool wants_all =
      options_.counts && wanted_ + pairs_.given_between() == options_.counts->between();
  for (const auto [part, wider] : kEnds) {
    const auto ends = wants_all
                          ? CountedInterval{options_.lower, options_.upper}
                          : interval_to_count(target, found, verification_.others(), part, wider);
    proven_ = proven_ || !ends;
    if (!ends) return has_digits(!lenient_) || give_up();
    if (engine_.stop_requested()) return engine_.end_as_requested(), false;
    engine_.begin_stage("counting eigenvalues");
    const std::optional<LimitCounts> counts =
        counts_at<T, Ctx>(context_, inverse_, options_, *ends);
    if (!counts) continue;
    const Index known = verification_.inside(*ends);
    mismatch_ = known != counts->between();
    proven_ = !mismatch_;
    if (proven_) {
      pairs_.counted = ends;
      pairs_.numbers = *counts;
      // What lies between counted limits is known only if all pairs of the count are reported.
      const Index given = std::count_if(pairs_.given.begin(), pairs_.given.end(),
                                        [&](double value) { return ends->has(value); });
      if (options_.counts) wanted_ = std::max(wanted_, known - given);
      const auto convergence = lenient_ ? convergence_.at_rounding() : convergence_;
      if (verification_.judge(convergence).confirmed()) return has_digits(!lenient_) || give_up();
      lenient_ = pairs_.whole && verification_.judge(convergence_.at_rounding()).confirmed();
      if (lenient_) return has_digits(false) || give_up();
      strictness_ *= kStricter;
      proven_ = false;
      shift_.factor_again();
      return false;
    }
    if (known > counts->between()) continue;
    if (pairs_.whole) return false;
    if (!missing_.begin(counts->between() - known, known)) {
      trouble_ = some_are_missing(known, counts->between());
      if (give_up()) engine_.end(SolveStatus::stagnated, trouble_);
      return false;
    }
    next_ = AfterNearest::search;
    strictness_ *= kStricter;
    return false;
  }
  if (has_digits(false)) return n_ > kDenseCount || give_up();
  if (!give_up()) return false;
  engine_.end(SolveStatus::stagnated, kUncounted);
  return false;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
