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
  now.active_columns = columns();
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  for (Index i = 0; i < count_believed(); ++i) {
    const Index j = s_->inside[static_cast<std::size_t>(i)];
    if (passes(j)) ++now.converged;
    result_.eigenvalues.push_back(value(j));
    result_.residuals.push_back(convergence_.scaled(value(j), residual(j)));
  }
  return now;
}

template <Scalar T, class Ctx>
MonitorState IntervalSolve<T, Ctx>::shown(const IterationRecord& record) const {
  return {record, options_.nev, result_.eigenvalues, result_.residuals};
}

template <Scalar T, class Ctx>
Claim IntervalSolve<T, Ctx>::claim() {
  if (!filter_stopped_ && settled()) {
    if (real_ <= options_.nev) return Claim::confirmed;
    end_crowded(
        fmt::format("the interval holds {} eigenvalues, more than nev = {}", real_, options_.nev));
  } else if (coefficients_.empty()) {
    engine_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
  return Claim::none;
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::stagnated() {
  if (!stagnation_.stagnated(result_.iterations, worst_residual(), convergence_.noise_floor())) {
    return false;
  }
  if (!convergence_.bounds_values()) return true;
  s_->verifier.judge(convergence_.at_rounding(), {});
  if (settled() && real_ <= options_.nev) {
    engine_.end(SolveStatus::converged, "all pairs converged as far as rounding allows");
  }
  return true;
}

/// Ends the solve because the interval contains more than nev pairs.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::end_crowded(std::string reason) {
  crowded_ = std::move(reason);
  engine_.end(SolveStatus::max_iterations, crowded_);
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::contains(double lambda) const noexcept {
  const double rounding = convergence_.noise_floor() * convergence_.scale(lambda);
  return lambda >= options_.lower - rounding && lambda <= options_.upper + rounding;
}

/// The number of pairs in the interval, counted by ascending residuals, that are taken for
/// eigenpairs.
template <Scalar T, class Ctx>
Index IntervalSolve<T, Ctx>::count_believed() const noexcept {
  const Index inside = std::ssize(s_->inside);
  return trusted() ? std::min(real_, inside) : inside;
}

template <Scalar T, class Ctx>
double IntervalSolve<T, Ctx>::worst_residual() const {
  double worst = 0;
  for (Index i = 0; i < count_believed(); ++i) {
    const Index j = s_->inside[static_cast<std::size_t>(i)];
    keep_worst(worst, convergence_.scaled(value(j), residual(j)));
  }
  return worst;
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::finish() {
  result_.status = engine_.status();
  result_.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  result_.converged.clear();
  if (s_ && !s_->inside.empty()) {
    std::vector<Index>& pairs = s_->inside;
    pairs.resize(static_cast<std::size_t>(count_believed()));
    std::sort(pairs.begin(), pairs.end());
    pairs.resize(std::min(pairs.size(), static_cast<std::size_t>(options_.nev)));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Index j = pairs[i];
      result_.eigenvalues.push_back(value(j));
      result_.residuals.push_back(convergence_.scaled(value(j), residual(j)));
      const auto pair = static_cast<std::size_t>(j);
      result_.error_bounds.push_back(s_->verifier.errors()[pair]);
      result_.limited_by_rounding.push_back(s_->verifier.limited()[pair]);
      result_.converged.push_back(s_->verifier.passed()[pair]);
      const auto target = static_cast<Index>(i);
      if (j != target) copy<T>(context_, s_->X.columns(j, 1), s_->X.columns(target, 1));
    }
  }
  result_.eigenvectors = s_ ? std::move(s_->X) : MultiVector<T, Space>(context_, rows_.local, 0);
  result_.reason = fmt::format("{}: {} pairs in {} iterations", engine_.reason(),
                               result_.eigenvalues.size(), result_.iterations);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
