#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/slices/solve.hpp>
#include <utility>

/// The verification of the pairs of all slices together, the dense solve, and the result.
namespace heddle::detail {
namespace {

/// Whether an end of the interval lies within the error of verified value j.
template <Scalar T, class Ctx>
bool straddles(const EigenVerifier<T, Ctx>& verifier, const IntervalOptions& interval,
               std::size_t j) {
  const double value = verifier.values()[j];
  const double error = verifier.errors()[j];
  return std::abs(value - interval.lower) <= error || std::abs(value - interval.upper) <= error;
}

/// Whether the value lies in the interval, or may lie in it by its error.
template <Scalar T, class Ctx>
bool may_be_inside(const EigenVerifier<T, Ctx>& verifier, const IntervalOptions& interval,
                   std::size_t j) {
  const double value = verifier.values()[j];
  return (interval.lower <= value && value <= interval.upper) || straddles(verifier, interval, j);
}

}  // namespace

/// Computes all pairs. False if B is not positive definite.
template <Scalar T, class Ctx>
bool SliceSolve<T, Ctx>::solve_dense() {
  X_ = MultiVector<T, Space>(context_, rows_.local, n_);
  set_identity(context_, X_.view(), rows_.first);
  found_.assign(static_cast<std::size_t>(n_), {});
  dense_ = true;
  if (!measure()) {
    dense_ = false;
    verifier_.reset();
    found_.clear();
    X_ = {};
    return false;
  }
  ++result_.iterations;
  const Index inside = std::count_if(
      verifier_->values().begin(), verifier_->values().end(),
      [&](double value) { return options_.lower <= value && value <= options_.upper; });
  if (inside > options_.nev) {
    end_with(SolveStatus::max_iterations,
             fmt::format("the interval holds {} eigenvalues, more than nev = {}: raise nev", inside,
                         options_.nev));
    verifier_.reset();
  }
  return true;
}

/// A Rayleigh–Ritz step over the pairs found, and their residuals from fresh products. False if the
/// vectors are dependent, or B is not positive definite on them.
template <Scalar T, class Ctx>
bool SliceSolve<T, Ctx>::measure() {
  const PhaseScope phase(context_, Phase::verify);
  const bool pencil = problem_.B != nullptr;
  const auto count = std::ssize(found_);
  verifier_.emplace(context_, rows_.local, count, pencil);
  verifier_->norms().prepare(context_, problem_);
  MultiVector<T, Space> AX(context_, rows_.local, block_);
  MultiVector<T, Space> BX(context_, rows_.local, pencil ? block_ : 0);
  const BlockView<T, Space> X = X_.columns(0, count);
  if (verifier_->rayleigh_ritz(context_, problem_, Which::smallest, X, AX.view(), BX.view()) !=
      DenseFailure::none) {
    return false;
  }
  verifier_->measure(context_, problem_, X, AX.view(), BX.view());
  verifier_->measure_accurately(context_, problem_, convergence_, X, AX.view(), BX.view());
  return true;
}

/// Judges the pairs of the last `measure`. Other eigenvalues may lie next to the ends of what was
/// searched.
template <Scalar T, class Ctx>
Verdict SliceSolve<T, Ctx>::judge(const EigenConvergence& convergence) {
  Neighbours neighbours{.solved = !dense_, .dense = dense_};
  ends_.clear();
  own_errors_.clear();
  if (dense_) {
    neighbours.below = neighbours.above = ErrorBounds::kNoneBeyond;
    return verifier_->judge(convergence, neighbours);
  }
  ends_ = {interval_.lower, interval_.upper};
  for (const Slice& slice : slices_) ends_.insert(ends_.end(), {slice.lower, slice.upper});
  end_widths_.assign(ends_.size(), 0);
  std::sort(found_.begin(), found_.end(),
            [](const BoundedValue& a, const BoundedValue& b) { return a.value < b.value; });
  for (std::size_t j = 0; j < found_.size(); ++j) {
    own_errors_.push_back(found_[j].error + std::abs(found_[j].value - verifier_->values()[j]));
  }
  neighbours.values = ends_;
  neighbours.residuals = end_widths_;
  // Each pair has passed in its slice: what its bound has left there is rounding.
  own_bounds_.assign(found_.size(), 0);
  neighbours.own_bounds = own_bounds_;
  neighbours.own_roundings = own_errors_;
  return verifier_->judge(convergence, neighbours);
}

/// Whether the pairs that are reported pass. A dense solution has others, too.
template <Scalar T, class Ctx>
bool SliceSolve<T, Ctx>::confirms(const EigenConvergence& convergence) {
  const Verdict verdict = judge(convergence);
  if (!dense_) return verdict.confirmed();
  for (std::size_t j = 0; j < found_.size(); ++j) {
    if (may_be_inside(*verifier_, options_, j) && !verifier_->passed()[j]) return false;
  }
  return verifier_->orthonormal();
}

/// Ends a solve that no limit has ended: converged if all pairs pass.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::judge_end() {
  const bool confirmed = confirms(convergence_);
  if (engine_.ended()) return;
  const EigenConvergence lenient = convergence_.at_rounding();
  lenient_ = !confirmed && confirms(lenient);
  if (!dense_ && std::ssize(found_) < interval_.counts.between()) {
    return end_with(SolveStatus::stagnated,
                    fmt::format("the interval holds {} eigenvalues, {} were found",
                                interval_.counts.between(), found_.size()));
  }
  if (confirmed || lenient_) {
    return engine_.end(SolveStatus::converged,
                       dense_ ? "solved as a dense problem"
                              : "all pairs of the interval converged and passed verification");
  }
  if (dense_) {
    return engine_.end(SolveStatus::stagnated,
                       "the dense solution is as good as the precision allows");
  }
  complete_ = judge(convergence_.at_noise().at_rounding()).confirmed();
  judge(convergence_);
  if (complete_) {
    return engine_.end(
        SolveStatus::stagnated,
        "all pairs of the interval were found, rounding allows no smaller residuals");
  }
  end_with(SolveStatus::verification_failed,
           fmt::format("the slices claim convergence, products made afresh do not confirm it ({})",
                       verifier_->refutation(convergence_)));
}

/// Writes the pairs that lie in the interval, or may lie in it.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::report() {
  result_.orthogonality = verifier_->orthogonality();
  for (std::size_t j = 0; j < found_.size(); ++j) {
    if (!may_be_inside(*verifier_, options_, j)) continue;
    const double value = verifier_->values()[j];
    const auto place = std::ssize(result_.eigenvalues);
    result_.eigenvalues.push_back(value);
    result_.residuals.push_back(convergence_.scaled_residual(value, verifier_->residuals()[j]));
    result_.error_bounds.push_back(verifier_->errors()[j]);
    result_.limited_by_rounding.push_back(verifier_->limited()[j]);
    result_.straddles.push_back(straddles(*verifier_, options_, j));
    result_.converged.push_back(verifier_->passed()[j]);
    const auto from = static_cast<Index>(j);
    if (place != from) copy<T>(context_, X_.columns(from, 1), X_.columns(place, 1));
  }
}

template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::finish() {
  if (!dense_ && !found_.empty() && !measure()) {
    verifier_.reset();
    end_with(SolveStatus::breakdown, "vectors of different slices are dependent");
  }
  if (verifier_) {
    judge_end();
    report();
  }
  if (!engine_.ended()) {
    engine_.end(SolveStatus::stagnated, "the slices have found no pair");
  }
  result_.status = engine_.status();
  result_.operator_applications += products() - products_before_;
  result_.inverse_applications += inverse_.columns_applied() - solves_before_;
  const bool converged = result_.status == SolveStatus::converged;
  if (dense_ && verifier_) {
    result_.completeness = {CompletenessMethod::dense, converged};
  } else if (converged || complete_) {
    result_.completeness = {CompletenessMethod::inertia, proven_};
  }
  result_.eigenvectors =
      found_.empty() ? MultiVector<T, Space>(context_, rows_.local, 0) : std::move(X_);
  result_.reason = fmt::format("{}{}", engine_.reason(),
                               converged && lenient_ ? ", as far as rounding allows" : "");
  if (solved_ > 0) {
    result_.reason += fmt::format(": {} pairs in {} slices", result_.eigenvalues.size(), solved_);
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SliceSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
