#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>
#include <heddle/solvers/lanczos/nearest/whole_space.hpp>
#include <limits>
#include <string_view>
#include <utility>

/// The hooks of the engine in a solve for the pairs nearest to σ, the dense solve, and the result.
namespace heddle::detail {
namespace {

/// The most times that a dense solve moves s. Each takes it four digits nearer to values at any
/// distance.
constexpr int kMostMoves = 100;

/// F in single precision does not tell values apart whose distances from s differ by less than ε of
/// them, and factors in double count them.
template <Scalar T>
constexpr std::string_view kContradicted =
    sizeof(RealOf<T>) == sizeof(double)
        ? "a count contradicts the dense solution"
        : "a count contradicts the dense solution, as where single precision does not resolve "
          "distances from sigma: double precision may";
constexpr std::string_view kAsGoodAsPossible =
    "the dense solution is as good as the precision allows";

}  // namespace

template <Scalar T, class Ctx>
IterationRecord NearestSolve<T, Ctx>::record() {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  worst_ = 0;
  now.active_columns = pairs_.whole ? n_ : s_->shape.block;
  now.converged = std::ssize(pairs_.locked);
  bool leads = true;
  for (const Index j : pairs_.leading) {
    // The residual that one more product with F leaves, see `refine`.
    const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
    const double measured = pairs_.measured(value);
    const double ratio = (pairs_.reciprocal ? measured : 1) / s_->ritz.value(j);
    const double residual = std::sqrt(convergence_.norm_B()) * s_->ritz.residual(j) * ratio * ratio;
    result_.eigenvalues.push_back(value);
    result_.residuals.push_back(convergence_.scaled_residual(measured, residual));
    leads = leads && settled(j);
    if (leads) ++now.converged;
  }
  now.converged = std::min(now.converged, wanted_);
  for (const double residual : result_.residuals) keep_worst(worst_, residual);
  now.worst_residual = worst_;
  return now;
}

template <Scalar T, class Ctx>
MonitorState NearestSolve<T, Ctx>::shown(const IterationRecord& record) const {
  return {record, wanted_, result_.eigenvalues, result_.residuals};
}

/// Where residuals no longer shrink, pairs need only pass as far as rounding allows.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::stagnated() {
  if (pairs_.whole || next_ != AfterNearest::thick_restart) return false;
  if (!stagnation_.stagnated(result_.iterations, worst_, convergence_.noise_floor())) return false;
  if (std::ssize(pairs_.leading) < missing_.awaited(wanted_)) return give_up();
  const Verdict verdict = verification_.measure_best(convergence_, true);
  if (verification_.choose_again(wanted_)) {
    next_ = AfterNearest::choose_again;
    stagnation_.restart(result_.iterations);
    return false;
  }
  if (verification_.lacks_pairs(wanted_)) return give_up();
  if (!verdict.confirmed()) {
    lenient_ = verification_.judge(convergence_.at_rounding()).confirmed();
    if (!lenient_) return give_up();
  }
  if (!count()) return next_ == AfterNearest::thick_restart && give_up();
  engine_.end(SolveStatus::converged, "all pairs converged and passed verification");
  return true;
}

/// Whether the iteration ends without its pairs. If not, a dense solve is next, which may still
/// find what the iteration has not found.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::give_up() {
  if (pairs_.whole || !dense_solve_may_follow(n_, options_.dense_bytes, sizeof(T))) return true;
  next_ = AfterNearest::whole_space;
  return false;
}

/// Solves with a basis of the range of B instead of one of Krylov vectors, orthogonal to the given
/// vectors. F maps it to itself, so that T = VᵀBFV has all other eigenvalues. A definite A stands
/// in the place of B.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::solve_whole() {
  next_ = AfterNearest::thick_restart;
  pairs_.whole = true;
  pairs_.verified = false;
  pairs_.locked.clear();
  pairs_.leading.clear();
  pairs_.counted.reset();
  missing_ = {};
  strictness_ = 0;  // residuals of Ritz pairs are 0
  s_.reset();
  const Index block = nearest_block_size(options_, n_);
  WholeSpace<T, Ctx> space(context_, n_, measured_.B, pairs_.reciprocal, block);
  if (space.indefinite()) {
    return engine_.end(SolveStatus::indefinite, "B is not positive semidefinite");
  }
  for (const auto& held : {constraints_.Y(), given_}) space.exclude(context_, held);
  wanted_ = std::min(wanted_, space.V().cols());
  if (wanted_ == 0) return end_without_pairs();
  const Index held = wanted_ + block + held_;
  make_storage({n_, block, space.V().cols(), std::min(n_, held)});
  if (wanted_ == 0) return end_without_pairs();
  if (!shift_.factor_again()) return;
  int moves = 0;
  do {
    const AfterNearest again = std::exchange(next_, AfterNearest::thick_restart);
    if (again == AfterNearest::move_shift && !shift_.move(s_->ritz)) return;
    if (again == AfterNearest::choose_again && !shift_.factor_again()) return;
    s_->basis.reset(measured_.B, options_.seed);
    s_->basis.set_whole(context_, space.V(), space.project(context_, *F_));
    ritz();
    if (engine_.ended()) return;
    next_ = AfterNearest::thick_restart;
    const auto there = std::ssize(pairs_.leading);
    bool near = shift_.is_too_near(s_->ritz, there) || (there < wanted_ && shift_.hides(s_->ritz));
    near = near && moves++ < kMostMoves;
    if (!near) {
      // Counted limits say how many there are. Else all of them are leading.
      mismatch_ = options_.counts && there < wanted_;
      if (!mismatch_) wanted_ = std::min(wanted_, there);
      if (wanted_ == 0) return end_without_pairs();
      engine_.finish_iteration(*this, "solved as a dense problem");
      if (engine_.ended()) return;
      if (next_ == AfterNearest::choose_again) continue;
      near = shift_.spoils(s_->ritz, wanted_) && moves++ < kMostMoves;
    }
    if (near) next_ = AfterNearest::move_shift;
  } while (next_ != AfterNearest::thick_restart);
  engine_.end(SolveStatus::stagnated, mismatch_ ? kContradicted<T> : kAsGoodAsPossible);
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::finish() {
  if (s_ && !pairs_.verified && s_->basis.order() > 0 &&
      !(pairs_.leading.empty() && pairs_.locked.empty())) {
    verification_.measure_best(convergence_, inverse_.shift() == pairs_.shift);
  }
  result_.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.inverse_applications = inverse_.columns_applied() - solves_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  if (s_ && pairs_.verified) {
    std::vector<std::size_t> places = verification_.best(wanted_);
    const std::span<const double> values = verification_.values();
    std::sort(places.begin(), places.end(), [&](std::size_t i, std::size_t j) {
      return pairs_.reciprocal ? std::abs(values[i]) < std::abs(values[j]) : i < j;
    });
    verification_.report(convergence_, places, result_);
  }
  if (s_) result_.orthogonalization = s_->basis.counts();
  result_.eigenvectors = s_ ? std::move(s_->X) : MultiVector<T, Space>(context_, rows_.local, 0);
  write_reason();
}

template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::write_reason() {
  const auto passed = std::count(result_.converged.begin(), result_.converged.end(), true);
  double worst = result_.residuals.empty() ? std::numeric_limits<double>::quiet_NaN() : 0;
  for (const double residual : result_.residuals) keep_worst(worst, residual);
  result_.status = engine_.conclude({passed, wanted_, "pairs", result_.iterations, "cycles", worst},
                                    result_.reason);
  const bool converged = result_.status == SolveStatus::converged;
  if (converged) {
    // Without a count, all eigenvalues of F are known nevertheless.
    const bool dense = pairs_.whole && !mismatch_ && !pairs_.counted;
    proven_ = proven_ || dense;
    result_.completeness = {dense ? CompletenessMethod::dense : CompletenessMethod::inertia,
                            proven_};
  }
  if (lenient_ && converged) result_.reason += ", as far as rounding allows";
  if (wanted_ < options_.nev) {
    result_.reason += fmt::format("; {} {}eigenvalues lie on this side of sigma, {} were wanted",
                                  wanted_, pairs_.reciprocal ? "finite " : "", options_.nev);
  }
  if (shift_.far()) {
    result_.reason +=
        fmt::format("; sigma lies far beyond the spectrum, the same pairs are nearest to {:.3g}",
                    pairs_.target.sigma);
  }
  if (shift_.moved()) {
    result_.reason += fmt::format(
        "; sigma is so near to an eigenvalue that A - sigma B was factored at {:.17g} instead",
        pairs_.shift);
  }
  if (converged && !proven_) {
    result_.reason += "; no certain factor counts the eigenvalues nearer to sigma";
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
