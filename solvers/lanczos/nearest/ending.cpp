#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>
#include <limits>
#include <utility>

/// The hooks of the engine in a solve for the pairs nearest to σ, the dense solve, and the result.
namespace heddle::detail {

template <Scalar T, class Ctx>
IterationRecord NearestSolve<T, Ctx>::record() {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  worst_ = 0;
  if (pairs_.dense) {
    now.active_columns = n_;
    for (const std::size_t j : verification_.best(wanted_)) {
      result_.eigenvalues.push_back(verification_.values()[j]);
      result_.residuals.push_back(
          convergence_.scaled_residual(s_->verifier.values()[j], s_->verifier.residuals()[j]));
      if (s_->verifier.passed()[j]) ++now.converged;
    }
  } else {
    now.active_columns = s_->shape.block;
    now.converged = std::ssize(pairs_.locked);
    bool leads = true;
    for (const Index j : pairs_.leading) {
      // The residual that one more product with F leaves, see `refine`.
      const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
      const double measured = pairs_.measured(value);
      const double ratio = (pairs_.reciprocal ? measured : 1) / s_->ritz.value(j);
      const double residual =
          std::sqrt(convergence_.norm_B()) * s_->ritz.residual(j) * ratio * ratio;
      result_.eigenvalues.push_back(value);
      result_.residuals.push_back(convergence_.scaled_residual(measured, residual));
      leads = leads && settled(j);
      if (leads) ++now.converged;
    }
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
  if (next_ != AfterNearest::thick_restart) return false;
  if (!stagnation_.stagnated(result_.iterations, worst_, convergence_.noise_floor())) return false;
  if (std::ssize(pairs_.leading) < awaited()) return true;
  if (!verification_.measure_best(convergence_, true).confirmed()) {
    lenient_ = verification_.judge(convergence_.at_rounding()).confirmed();
    if (!lenient_) return true;
  }
  if (!count()) return next_ != AfterNearest::search;
  engine_.end(SolveStatus::converged, "all pairs converged and passed verification");
  return true;
}

/// Solves the problem as a dense one. False if B is not positive definite.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::solve_dense() {
  s_.emplace(context_, rows_, NearestShape{n_, nearest_block_size(options_, n_), 0, n_},
             measured_.B != nullptr);
  s_->verifier.norms().prepare(context_, measured_);
  set_identity(context_, s_->X.view(), rows_.first);
  pairs_.dense = true;
  pairs_.count = n_;
  verification_.measure(convergence_);
  if (pairs_.count == 0) {
    pairs_.dense = false;
    s_.reset();
    return false;
  }
  ++result_.iterations;
  const std::span<const double> values = verification_.values();
  wanted_ = std::min(wanted_, static_cast<Index>(nearest_places(pairs_.target, values).size()));
  engine_.append_record(*this);
  const std::vector<std::size_t> places = verification_.best(wanted_);
  proven_ = std::all_of(places.begin(), places.end(),
                        [&](std::size_t j) { return s_->verifier.passed()[j]; });
  if (proven_) {
    engine_.end(SolveStatus::converged, "solved as a dense problem");
  } else {
    engine_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
  return true;
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
  if (converged || (pairs_.dense && !result_.eigenvalues.empty())) {
    result_.completeness = {pairs_.dense ? CompletenessMethod::dense : CompletenessMethod::inertia,
                            proven_};
  }
  if (lenient_ && converged) result_.reason += ", as far as rounding allows";
  if (wanted_ < options_.nev) {
    result_.reason += fmt::format("; {} {}eigenvalues lie on this side of sigma, {} were wanted",
                                  wanted_, pairs_.reciprocal ? "finite " : "", options_.nev);
  }
  if (moved_) {
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
