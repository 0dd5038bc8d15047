#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <utility>

/// The hooks of the engine in a solve for the pairs of an interval, and the result.
namespace heddle::detail {

template <Scalar T, class Ctx>
IterationRecord IntervalSolve<T, Ctx>::record() {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.worst_residual = worst_residual();
  now.active_columns = search_ ? search_->block() : n();
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  for (const Index j : s_->inside) {
    if (s_->passes(j)) ++now.converged;
    result_.eigenvalues.push_back(s_->value(j));
    result_.residuals.push_back(convergence_.scaled_residual(s_->value(j), s_->residual(j)));
  }
  return now;
}

template <Scalar T, class Ctx>
MonitorState IntervalSolve<T, Ctx>::shown(const IterationRecord& record) const {
  return {record, options_.nev, result_.eigenvalues, result_.residuals};
}

/// Where residuals no longer shrink, errors of values need only be as small as rounding allows.
/// Residuals only change as long as there are candidates, and mean little before these are
/// resolved.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::stagnated() {
  const Candidates& candidates = search_->candidates();
  if (candidates.count() == 0 || !candidates.converged() || s_->inside.empty()) {
    stagnation_.restart(result_.iterations);
    return false;
  }
  if (!stagnation_.stagnated(result_.iterations, worst_residual(), convergence_.noise_floor())) {
    return false;
  }
  if (!convergence_.bounds_values() || convergence_.is_at_rounding()) return true;
  convergence_ = convergence_.at_rounding();
  stagnation_.restart(result_.iterations);
  return false;
}

/// Ends the solve because the interval contains more than nev pairs.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::end_crowded(std::string reason) {
  crowded_ = std::move(reason);
  engine_.end(SolveStatus::max_iterations, crowded_);
}

/// Whether a pair counts as one of the interval. Its value lies in it, or beyond an end by less
/// than an error that no iteration reduces.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::contains(Index pair) const {
  if (s_->beyond(pair, options_) <= 0) return true;
  const bool is_final =
      !search_ || convergence_.residual_is_rounding(s_->value(pair), s_->residual(pair));
  return is_final && s_->straddles(pair, options_);
}

template <Scalar T, class Ctx>
double IntervalSolve<T, Ctx>::worst_residual() const {
  double worst = 0;
  for (const Index j : s_->inside)
    keep_worst(worst, convergence_.scaled_residual(s_->value(j), s_->residual(j)));
  return worst;
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::finish() {
  result_.status = engine_.status();
  result_.operator_applications = problem_.A->columns_applied() - applications_before_;
  if (search_) result_.orthogonalization = search_->counts();
  result_.eigenvalues.clear();
  result_.residuals.clear();
  result_.converged.clear();
  if (s_) {
    const EigenVerifier<T, Ctx>& verifier = s_->verifier;
    const auto most = static_cast<std::size_t>(options_.nev);
    for (std::size_t i = 0; i < std::min(s_->inside.size(), most); ++i) {
      const Index j = s_->inside[i];
      const auto pair = static_cast<std::size_t>(j);
      const auto target = static_cast<Index>(i);
      result_.eigenvalues.push_back(s_->value(j));
      result_.residuals.push_back(convergence_.scaled_residual(s_->value(j), s_->residual(j)));
      result_.error_bounds.push_back(verifier.errors()[pair]);
      result_.limited_by_rounding.push_back(verifier.limited()[pair]);
      result_.straddles.push_back(s_->straddles(j, options_));
      result_.converged.push_back(s_->passes(j));
      if (j != target) copy<T>(context_, s_->X.columns(j, 1), s_->X.columns(target, 1));
    }
  }
  if (s_ && !search_ && crowded_.empty()) {
    const auto small = [&](Index j) {
      return convergence_.residual_is_rounding(s_->value(j), s_->residual(j));
    };
    result_.completeness = {CompletenessMethod::dense,
                            std::all_of(s_->inside.begin(), s_->inside.end(), small)};
  } else if (search_ && result_.status == SolveStatus::converged) {
    result_.completeness = {CompletenessMethod::random_search};
  }
  result_.eigenvectors = s_ ? std::move(s_->X) : MultiVector<T, Space>(context_, rows_.local, 0);
  const bool lenient = result_.status == SolveStatus::converged && convergence_.is_at_rounding();
  result_.reason = fmt::format("{}{}: {} pairs in {} iterations", engine_.reason(),
                               lenient ? ", as far as rounding allows" : "",
                               result_.eigenvalues.size(), result_.iterations);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
