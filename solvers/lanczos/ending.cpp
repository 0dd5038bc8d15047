#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <limits>
#include <span>
#include <vector>

// The hooks of the engine in a block Lanczos solve, and the result.
namespace heddle::detail {
namespace {

constexpr std::string_view kMoreDigits =
    "; the residuals are rounding errors, the error bounds of the values exceed what is asked for. "
    "An inverse (filter: inverse) reaches more digits";

constexpr std::string_view kSearching =
    "; the search for missed pairs did not end: more eigenvalues lie next to the wanted ones than "
    "the basis holds";

constexpr std::string_view kUnproven =
    "; eigenvalues below the first one are not excluded: rows of the matrix cancel to rounding, so "
    "that A - sigma B has no Cholesky factor for a sigma near it";

/// A value or gap tells a size if it is this many times as large as the bound of the first value.
constexpr double kSignificant = 1e3;
/// In units of that size: the distance of σ from the first value up to which θ tells values apart.
constexpr double kNearFirst = 10;

/// Whether a factor proves that no eigenvalue lies far below the first one. With a σ that lies far
/// below all of them, a motion in rows that cancel to rounding has a θ without digits, and may be
/// missed. F has another factor afterwards.
template <Scalar T, class Ctx>
bool excludes_smaller(Ctx& context, const EigenProblem<T, Ctx>& problem,
                      const LanczosOperator<T, Ctx>& F,
                      const EigenResult<T, typename Ctx::Space>& result) {
  if (!F.in_standard_form() || !F.map().inverts()) return true;
  const double first = result.eigenvalues.front();
  const double least = kSignificant * result.error_bounds.front();
  double size = std::abs(first) > least ? std::abs(first) : 0;
  for (const double value : result.eigenvalues) {
    if (!(value - first > least)) continue;
    size = std::max(size, value - first);
    break;
  }
  if (size == 0 || kNearFirst * size >= 1 / F.map().theta_of(first)) return true;
  return problem.shifted_inverse->factor(context, first - size);
}

}  // namespace

template <Scalar T, class Ctx>
IterationRecord BlockLanczosSolve<T, Ctx>::record() const {
  IterationRecord now;
  now.iteration = result_.iterations;
  if (s_.shape.max_basis > 0) {
    now.converged = pairs_.converged();
  } else {
    now.converged = verification_.verdict().confirmed() ? options_.nev : 0;
  }
  now.worst_residual = pairs_.worst_residual();
  now.active_columns = s_.shape.block;
  now.operator_applications = choice_.applications();
  return now;
}

template <Scalar T, class Ctx>
MonitorState BlockLanczosSolve<T, Ctx>::shown(const IterationRecord& record) {
  const std::span<const double> residuals = pairs_.scaled_residuals();
  const std::span<const double> values(pairs_.wanted().values.data(), residuals.size());
  return {record, options_.nev, values, residuals};
}

/// Claims convergence if all wanted pairs have converged, and a check for missed pairs has found
/// none or could find none. If such a check is still to be done, it follows this cycle. Where it
/// could find none, it is done nevertheless if the errors of the pairs cannot be bounded without
/// the values next to them that it finds.
template <Scalar T, class Ctx>
Claim BlockLanczosSolve<T, Ctx>::claim() {
  if (next_ != AfterCycle::thick_restart || !completeness_.all_converged()) return Claim::none;
  if (!pairs_.checking() || pairs_.missed() > 0) {
    // A cycle that was cut short has not shown all copies yet.
    if (!pairs_.checking() && cycle_complete_ && completeness_.first_block_shows_all() &&
        verification_.measure_best(pairs_.convergence()).confirmed()) {
      if (!beyond_interval()) return Claim::confirmed;
      next_ = AfterCycle::start_again;
      return Claim::none;
    }
    next_ = AfterCycle::begin_check;
    return Claim::none;
  }
  if (!completeness_.others_would_show(basis_.full())) return Claim::none;
  if (verify(pairs_.convergence())) return Claim::confirmed;
  return inverse_has_more_digits() ? Claim::none : Claim::refuted;
}

/// Whether the residuals of the pairs that were verified last are rounding errors, the values do
/// not have the digits that rounding allows in the rows of their vectors, and there is an inverse.
/// Sets the action that follows the cycle then: the inverse is exact in rows of any size.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::inverse_has_more_digits() {
  const EigenConvergence& convergence = pairs_.convergence();
  const bool exhausted = verification_.verdict().residuals && convergence.bounds_values() &&
                         convergence.all_at_noise(result_.residuals) &&
                         !verification_.judge(convergence.at_rounding()).confirmed();
  if (!exhausted || !choice_.may_invert()) return false;
  next_ = AfterCycle::invert;
  return true;
}

/// Whether nothing but rounding keeps pairs from passing. Ends the solve as converged if the errors
/// of the values are as small as rounding allows and a check has found no missed pair.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::at_rounding() {
  const bool all_noise = pairs_.convergence().all_at_noise(result_.residuals);
  if (!all_noise && !verification_.verdict().residuals) return false;
  if (completeness_.none_missed() && completeness_.others_would_show(basis_.full()))
    accept_rounding();
  return true;
}

/// Ends the solve as converged if the errors of the values are as small as rounding allows.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::accept_rounding() {
  const EigenConvergence& convergence = pairs_.convergence();
  if (verify(convergence.bounds_values() ? convergence.at_rounding() : convergence)) {
    engine_.end(SolveStatus::converged,
                "all pairs converged as far as rounding allows, and passed verification");
  }
}

template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::stagnated() {
  if (next_ == AfterCycle::invert) return false;
  if (!stagnation_.stagnated(result_.iterations, completeness_.awaited_residual(),
                             pairs_.convergence().noise_floor())) {
    return false;
  }
  const bool check_ends = completeness_.none_missed() && ritz_.order() > 0;
  if (check_ends && !completeness_.next_is_still()) {
    stagnation_.restart(result_.iterations);
    return false;
  }
  verify(pairs_.convergence());
  if (check_ends) {
    accept_rounding();
  } else {
    at_rounding();
  }
  return engine_.ended() || !inverse_has_more_digits();
}

/// Whether fresh products with A and B confirm the best pairs. If not, sets the action that follows
/// the cycle.
template <Scalar T, class Ctx>
bool BlockLanczosSolve<T, Ctx>::verify(const EigenConvergence& convergence) {
  const Verdict verdict = verification_.measure_best(convergence);
  const bool beyond = beyond_interval();
  if (verdict.confirmed() && !beyond) {
    next_ = AfterCycle::thick_restart;
    return true;
  }
  if (beyond) {
    next_ = AfterCycle::start_again;
  } else if (F_.map().inverts() && !verdict.residuals) {
    next_ = AfterCycle::retreat;
  } else {
    if (verification_.failure() == DenseFailure::none) next_ = AfterCycle::reopen;
    pairs_.tighten();
  }
  return false;
}

template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::finish() {
  if (!verification_.measured() && has_pairs_) verify(pairs_.convergence());
  result_.orthogonalization = basis_.counts();
  result_.operator_applications = choice_.applications();
  result_.inverse_applications = choice_.inverse_applications();
  const bool none = result_.history.empty() || next_ == AfterCycle::start_again;
  const Index converged = none ? 0 : passed_pairs(result_);
  const double worst = result_.residuals.empty()
                           ? std::numeric_limits<double>::quiet_NaN()
                           : *std::max_element(result_.residuals.begin(), result_.residuals.end());
  result_.status = engine_.conclude(
      {converged, options_.nev, "pairs", result_.iterations, "cycles", worst}, result_.reason);
  if (s_.shape.max_basis > 0) {
    result_.completeness = {
        completeness_.method(result_.status == SolveStatus::converged, basis_.full())};
  } else if (!result_.eigenvalues.empty()) {
    result_.completeness = {CompletenessMethod::dense, verification_.verdict().confirmed()};
  }
  result_.inverse_reaches_more_digits = result_.status == SolveStatus::converged &&
                                        !verification_.verdict().digits && s_.shape.max_basis > 0 &&
                                        !F_.map().inverts() && options_.which == Which::smallest;
  if (result_.inverse_reaches_more_digits) result_.reason += kMoreDigits;
  if (result_.status == SolveStatus::converged &&
      !excludes_smaller(context_, problem_, F_, result_)) {
    result_.status = SolveStatus::stagnated;
    result_.converged.assign(result_.converged.size(), false);
    result_.completeness.proven = false;
    result_.reason += kUnproven;
    return;
  }
  const bool limited =
      result_.status == SolveStatus::max_iterations || result_.status == SolveStatus::time_limit;
  if (limited && !stalled_ && converged == options_.nev) result_.reason += kSearching;
  const bool stagnated = result_.status == SolveStatus::stagnated;
  if (stagnated && !result_.residuals.empty()) result_.reason += "; " + refutation();
}

/// Saves or loads the numbers at the end of a cycle. The long blocks are those of the basis.
template <Scalar T, class Ctx>
void BlockLanczosSolve<T, Ctx>::archive(Archive& archive) {
  archive.values(stagnation_, cycle_complete_, result_.iterations);
  completeness_.archive(archive);
  pairs_.archive(archive);
  choice_.archive(archive);
  basis_.archive(context_, archive);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockLanczosSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
