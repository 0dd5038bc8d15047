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

/// Searches for missing pairs, after which a result is not proven.
constexpr Index kMostSearches = 8;

/// The number of eigenvalues between the ends. Nothing if a factor is not certain.
template <Scalar T, class Ctx>
std::optional<Index> counted(Ctx& context, IndefiniteInverse<T, Ctx>& inverse,
                             const CountedInterval& ends) {
  if (!inverse.factor(context, ends.lower)) return std::nullopt;
  const Index below = inverse.below();
  if (!inverse.factor(context, ends.upper)) return std::nullopt;
  return inverse.below() - below;
}

}  // namespace

/// Claims convergence if fresh products confirm all leading pairs, and the count finds no others.
template <Scalar T, class Ctx>
Claim NearestSolve<T, Ctx>::claim() {
  if (next_ != AfterNearest::thick_restart || !all_settled()) return Claim::none;
  const Verdict verdict = verification_.measure_best(convergence_, true);
  if (!verdict.confirmed()) {
    const bool may_pass = verdict.residuals && convergence_.bounds_values();
    lenient_ =
        may_pass && strictness_ < 1 && verification_.judge(convergence_.at_rounding()).confirmed();
    if (!lenient_) {
      strictness_ *= 0.1;
      return Claim::refuted;
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
    const auto ends = interval_to_count(pairs_.target, found, verification_.others(), part);
    if (!ends) return proven_ = true;
    if (engine_.stop_requested()) return true;
    engine_.begin_stage("counting eigenvalues");
    const std::optional<Index> expected = counted(context_, inverse_, *ends);
    if (!expected) continue;
    const Index known = verification_.inside(*ends);
    proven_ = known == *expected;
    if (proven_) return bounds_hold(*ends);
    if (known >= *expected || searches_ == kMostSearches) return true;
    ++searches_;
    missed_ = *expected - known;
    next_ = AfterNearest::search;
    strictness_ *= kStricter;
    return false;
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
  strictness_ *= kStricter;
  proven_ = false;
  if (!inverse_.factor(context_, pairs_.shift)) {
    engine_.end(SolveStatus::breakdown, "A - sigma B could not be factored again");
  }
  return false;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
