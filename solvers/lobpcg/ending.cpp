#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lobpcg/solve.hpp>
#include <limits>

/// When a LOBPCG solve ends, and with what: records, verification, the result.
namespace heddle::detail {
template <Scalar T, class Ctx>
IterationRecord LobpcgSolve<T, Ctx>::record() const {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.converged = std::min(
      options_.nev, static_cast<Index>(s_.locked_values.size()) + std::min(leading_, wanted_in_X_));
  now.worst_residual = worst_residual();
  now.active_columns = blocks_.x() - leading_;
  now.operator_applications = applications();
  return now;
}

template <Scalar T, class Ctx>
MonitorState LobpcgSolve<T, Ctx>::shown(const IterationRecord& record) {
  s_.monitor_values = s_.locked_values;
  s_.monitor_residuals = s_.locked_residuals;
  for (std::size_t j = 0; j < static_cast<std::size_t>(wanted_in_X_); ++j) {
    s_.monitor_values.push_back(ritz_.theta()[j]);
    s_.monitor_residuals.push_back(s_.residuals[j]);
  }
  for (std::size_t j = 0; j < s_.monitor_values.size(); ++j) {
    s_.monitor_residuals[j] = convergence_.scaled(s_.monitor_values[j], s_.monitor_residuals[j]);
  }
  return {record, options_.nev, s_.monitor_values, s_.monitor_residuals};
}

template <Scalar T, class Ctx>
std::optional<StopControl::Stop> LobpcgSolve<T, Ctx>::trouble() const {
  if (std::isfinite(worst_residual())) return std::nullopt;
  return StopControl::Stop{SolveStatus::breakdown, "a residual is not finite"};
}

template <Scalar T, class Ctx>
Claim LobpcgSolve<T, Ctx>::claim() {
  if (more_to_come() || leading_ < wanted_in_X_ || !guards_agree()) return Claim::none;
  return verify() ? Claim::confirmed : Claim::refuted;
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::guards_agree() const {
  // Pairs that were not found from random vectors alone may be exact and yet not the wanted ones. A
  // guard vector that has come to rest above them shows that nothing is left below: the last one
  // where X began with guesses, which may be exact, too; else the first.
  const bool guessed = problem_.initial_guess.cols() > 0;
  if (!guessed && s_.locked_values.empty()) return true;
  const Index guard = guessed ? blocks_.x() - 1 : wanted_in_X_;
  if (guard < wanted_in_X_ || guard >= blocks_.x()) return true;
  const auto column = static_cast<std::size_t>(guard);
  return convergence_.scaled(ritz_.theta()[column], s_.residuals[column]) <=
         std::sqrt(options_.tolerance);
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::more_to_come() const {
  return static_cast<Index>(s_.locked_values.size()) + blocks_.x() < options_.nev;
}

template <Scalar T, class Ctx>
double LobpcgSolve<T, Ctx>::worst_residual() const {
  double worst = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(wanted_in_X_); ++j) {
    keep_worst(worst, convergence_.scaled(ritz_.theta()[j], s_.residuals[j]));
  }
  return worst;
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::stagnated() {
  const Index iteration = result_.iterations;
  if (!stagnation_.stagnated(iteration, worst_residual(), convergence_.noise_floor())) return false;
  if (restarted_) return true;
  restarted_ = true;  // once more from X alone: P may hold what blocks the way
  stagnation_.restart(iteration);
  blocks_.set_p(0);
  refresh_due_ = true;
  return false;
}

template <Scalar T, class Ctx>
Index LobpcgSolve<T, Ctx>::applications() const {
  return problem_.A->columns_applied() - applications_before_;
}

/// What an iteration begins with, but for the long blocks.
template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::archive(Archive& archive) {
  Index applied = applications();
  archive.values(applied, convergence_, stagnation_, constraints_, leading_, wanted_in_X_, streams_,
                 steps_since_refresh_, last_lock_, fresh_directions_, comparable_steps_,
                 strictness_, restarted_, result_.iterations, result_.orthogonalization);
  if (archive.loading()) applications_before_ = problem_.A->columns_applied() - applied;
  blocks_.archive(archive);
  ritz_.archive(archive);
  for (auto* list :
       {&s_.residuals, &s_.residuals_before, &s_.locked_values, &s_.locked_residuals}) {
    archive.list(*list);
  }
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::collect_pairs(Block V) {
  // Of the locked pairs those that rank among the wanted, then the leading columns of X.
  const auto better = [&](double a, double b) {
    return options_.which == Which::smallest ? a < b : a > b;
  };
  const Index from_X = std::min(V.cols(), wanted_in_X_);
  const Index from_Y = V.cols() - from_X;
  const std::vector<double>& values = s_.locked_values;
  Index filled = 0;
  for (std::size_t i = 0; i < values.size() && filled < from_Y; ++i) {
    Index rank = 0;
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (better(values[j], values[i]) || (values[j] == values[i] && j < i)) ++rank;
    }
    if (rank >= from_Y) continue;
    copy(context_, blocks_.Y(constraints_ + static_cast<Index>(i), 1), V.columns(filled++, 1));
  }
  copy(context_, blocks_.X().columns(0, from_X), V.columns(filled, from_X));
  return s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, blocks_.AS_scratch(),
                                   blocks_.BS_scratch()) == DenseFailure::none;
}

template <Scalar T, class Ctx>
bool LobpcgSolve<T, Ctx>::verify() {
  const Index locked = static_cast<Index>(s_.locked_values.size());
  const Index count = std::min(options_.nev, locked + blocks_.x());
  const Block V = result_.eigenvectors.columns(0, count);
  measured_ = true;
  refresh_due_ = true;  // A X and A P give way to the products made here
  result_.eigenvalues.clear();
  result_.residuals.clear();
  if (collect_pairs(V)) {
    s_.verifier.measure(context_, problem_, V, blocks_.AS_scratch(), blocks_.BS_scratch());
    if (s_.verifier.report(convergence_, result_)) return true;
  }
  strictness_ *= 0.5;  // Rayleigh–Ritz in a cluster mixes residuals that just passed
  return false;
}

template <Scalar T, class Ctx>
void LobpcgSolve<T, Ctx>::finish() {
  const bool has_pairs = !result_.history.empty() && std::isfinite(worst_residual());
  if (!measured_ && has_pairs) verify();
  result_.operator_applications = applications();
  const Index converged = has_pairs ? result_.history.back().converged : 0;
  const double worst = result_.residuals.empty()
                           ? std::numeric_limits<double>::quiet_NaN()
                           : *std::max_element(result_.residuals.begin(), result_.residuals.end());
  result_.status = engine_.conclude(
      {converged, options_.nev, "pairs", result_.iterations, "iterations", worst}, result_.reason);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LobpcgSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
