#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/solve.hpp>
#include <limits>

// The hooks of the engine in a LOBPCG solve, and the result.
namespace heddle::detail {
namespace {

constexpr std::string_view kAtRounding = "residuals stopped falling at the level of rounding";

constexpr std::string_view kMoreDigits =
    "; the residuals meet the tolerance, the error bounds of the values do not. Block Lanczos with "
    "an inverse (filter: inverse) reaches more digits";

}  // namespace

template <Scalar T, class Ctx>
IterationRecord LobpcgSolve<T, Ctx>::record() const {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.converged = pairs_.converged();
  now.worst_residual = pairs_.worst_residual(ritz_.values());
  now.active_columns = blocks_.x() - resting_columns(pairs_.at_rest(ritz_.values(), guessed_),
                                                     blocks_.x(), blocks_.kWidthUnit);
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  return now;
}

template <Scalar T, class Ctx>
MonitorState LobpcgSolve<T, Ctx>::shown(const IterationRecord& record) {
  pairs_.list(ritz_.values(), s_.monitor_values, s_.monitor_residuals);
  return {record, options_.nev, s_.monitor_values, s_.monitor_residuals};
}

template <Scalar T, class Ctx>
std::optional<StopControl::Stop> LobpcgSolve<T, Ctx>::trouble() const {
  if (std::isfinite(pairs_.worst_residual(ritz_.values()))) return std::nullopt;
  return StopControl::Stop{SolveStatus::breakdown, "a residual is not finite"};
}

template <Scalar T, class Ctx>
Claim LobpcgSolve<T, Ctx>::claim() {
  if (!pairs_.all_converged(ritz_.values(), guessed_)) return Claim::none;
  if (guessed_ && pairs_.evidence().show_nothing(pairs_.guards(ritz_.values()))) {
    guessed_ = false;  // begin again with random columns only
    missed_pairs_.reset();
    fill_random(context_, options_.seed, streams_++, blocks_.S().X, s_.shape.rows.first);
    blocks_.set_p(0);
    stagnation_.restart(result_.iterations);
    refresh_due_ = true;
    return Claim::none;
  }
  if (missed_pairs_.needed()) return Claim::none;
  refresh_due_ = true;  // because the verification overwrites A S and B S
  const Verdict verdict = verification_.verify(pairs_.convergence());
  if (verdict.confirmed()) return Claim::confirmed;
  pairs_.tighten();  // because a Rayleigh–Ritz step in a cluster mixes residuals that just passed
  // Residuals that pass and values that do not are progress: each such claim halves the residuals
  // that the next one needs, until they stagnate.
  return verdict.residuals ? Claim::none : Claim::refuted;
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::at_rounding() {
  if (!pairs_.convergence().all_at_noise(result_.residuals)) return false;
  engine_.end(verification_.stop_at_rounding(kAtRounding));
  return true;
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::stagnated() {
  const Index iteration = result_.iterations;
  const RitzValues values = ritz_.values();
  const Index guards = pairs_.awaited_guards(values, guessed_);
  if (!stagnation_.stagnated(iteration, pairs_.worst_residual(values, guards),
                             pairs_.convergence().noise_floor())) {
    return false;
  }
  if (directions_.raise_precision()) {
    stagnation_.restart(iteration);
    return false;
  }
  // Pairs at the level of rounding need the same evidence as those that pass.
  const GuardVectors behind = pairs_.guards(values);
  if (guards > 0 || (guessed_ && !pairs_.evidence().shows_all(behind, guessed_))) {
    pairs_.evidence().note_stagnation(behind);
    stagnation_.restart(iteration);
    return false;
  }
  if (restarted_ && missed_pairs_.needed()) {
    stagnation_.restart(iteration);
    return false;
  }
  if (restarted_) {
    const StopControl::Stop stop = verification_.stop_at_rounding(kAtRounding);
    refresh_due_ = true;  // because the verification overwrites A S and B S
    // Rounding in soft rows is far below that of the stiffest ones, and residuals of eigenvectors
    // there fall on, with plateaus, while their values have no digits yet.
    if (verification_.lacks_digits() && stagnation_.wait(iteration)) return false;
    engine_.end(stop);
    return true;
  }
  restarted_ = true;  // one restart without P, because P may prevent progress
  stagnation_.restart(iteration);
  blocks_.set_p(0);
  refresh_due_ = true;
  return false;
}

/// Saves or loads what an iteration begins with, except the long blocks.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::archive(Archive& archive) {
  Index applied = problem_.A->columns_applied() - applications_before_;
  archive.values(applied, stagnation_, constraints_, streams_, steps_since_refresh_,
                 fresh_directions_, restarted_, guessed_, result_.iterations,
                 result_.orthogonalization);
  if (archive.loading()) {
    applications_before_ = problem_.A->columns_applied() - applied;
    constrained_A_.set_rank(constraints_);
  }
  blocks_.archive(archive);
  ritz_.archive(archive);
  pairs_.archive(archive);
  missed_pairs_.archive(archive);
  if (preconditioner_ != nullptr) preconditioner_->archive(context_, archive);
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::finish() {
  const bool has_pairs =
      !result_.history.empty() && std::isfinite(pairs_.worst_residual(ritz_.values()));
  if (!verification_.is_current() && has_pairs) verification_.verify(pairs_.convergence());
  result_.operator_applications = problem_.A->columns_applied() - applications_before_;
  const Index converged = has_pairs ? passed_pairs(result_) : 0;
  const double worst = result_.residuals.empty()
                           ? std::numeric_limits<double>::quiet_NaN()
                           : *std::max_element(result_.residuals.begin(), result_.residuals.end());
  result_.status = engine_.conclude(
      {converged, options_.nev, "pairs", result_.iterations, "iterations", worst}, result_.reason);
  if (s_.spans_space() && has_pairs) {
    result_.completeness = {CompletenessMethod::dense, verification_.verdict().residuals};
  } else {
    result_.completeness = {missed_pairs_.method()};
  }
  // The residuals are small against ‖A‖, yet not small enough for digits of the values.
  const bool unfinished = result_.status == SolveStatus::stagnated ||
                          result_.status == SolveStatus::max_iterations ||
                          result_.status == SolveStatus::verification_failed;
  const Verdict& verdict = verification_.verdict();
  result_.inverse_reaches_more_digits = result_.status == SolveStatus::converged &&
                                        !verdict.digits && options_.which == Which::smallest;
  if ((unfinished && verdict.residuals) || result_.inverse_reaches_more_digits) {
    result_.reason += kMoreDigits;
  }
  const bool stagnated = result_.status == SolveStatus::stagnated;
  if (stagnated && !result_.residuals.empty() && !verification_.verdict().residuals) {
    result_.reason += "; " + refutation();
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LobpcgSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
