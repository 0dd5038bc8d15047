#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/interval/memory.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <numbers>
#include <optional>

/// The choice between a dense solve and block Lanczos, of the filter and of the basis.
namespace heddle::detail {
namespace {

/// Moments of the spectral density. Filters of a higher degree are planned as if the density were
/// constant within its resolution.
constexpr Index kDensityDegree = 1024;
constexpr double kResolution = 0.1;  // of the density, relative to the width of the interval

/// The basis has more columns than it is expected to need: this factor, and room for a round that
/// finds nothing.
constexpr double kSpare = 1.25;
constexpr Index kSpareBlocks = 12;

/// The share of the expected columns at which pairs are tested first.
constexpr double kFirstTest = 0.7;

/// A dense solve is chosen at once if the density alone takes this share of its operations.
constexpr double kDensityShare = 0.05;

/// An interval is too crowded for any basis if the estimated number of its eigenvalues exceeds
/// twice nev by this many deviations. Eigenvalues nearer to an end than this many resolutions are
/// not counted, because others beyond the end may be counted instead.
constexpr double kCertain = 6;
constexpr double kEdge = 2;

}  // namespace

/// Whether a dense solve on the host takes less time than the given number of operations.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::dense_pays(double operations) const noexcept {
  return dense_solve_may_follow(n(), options_.dense_bytes, sizeof(T)) &&
         operations > kSmallCost<Ctx> * dense_operations(n());
}

/// The part of the interval in which the eigenvalues of an A with this norm may lie. Without a norm
/// and for an interval without an end, the width is infinite.
template <Scalar T, class Ctx>
double IntervalSolve<T, Ctx>::width(std::optional<double> norm) const noexcept {
  const double most = norm.value_or(std::numeric_limits<double>::infinity());
  return std::max(0.0, std::min(options_.upper, most) - std::max(options_.lower, -most));
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::plan() {
  const PhaseScope phase(context_, Phase::setup);
  const std::optional<double> norm = problem_.A->one_norm();
  const Index most = max_interval_basis(options_, n());
  const auto set_convergence = [&](double norm_A) {
    convergence_ = EigenConvergence(options_.criterion, options_.tolerance, norm_A, 1,
                                    std::numeric_limits<RealOf<T>>::epsilon());
  };
  if (norm) {
    set_convergence(*norm);
    const double moments =
        std::min<double>(kDensityDegree, std::numbers::pi * *norm / (kResolution * width(norm)));
    const double density = 10 * static_cast<double>(n() * kDensityVectors) * moments;
    if (most == 0 || dense_pays(density / kDensityShare)) return plan_dense();
  }
  const SpectralDensity density = estimate_density();
  if (engine_.asked_to_stop()) return engine_.end_as_requested();
  const double size = std::max(std::abs(density.lower()), std::abs(density.upper()));
  if (!norm) set_convergence(size);
  if (!density.finite()) {
    return engine_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  const double rounding = convergence_.noise_floor() * size;
  if (options_.lower > density.upper() + rounding || options_.upper < density.lower() - rounding) {
    return engine_.end(SolveStatus::converged, "the interval lies beyond the spectrum");
  }
  if (most == 0) return plan_dense();
  spectrum_ = {density.lower(), density.upper()};
  range_ = {spectrum_.angle(options_.upper), spectrum_.angle(options_.lower)};
  const FilterPlan plan = plan_filter(
      density, range_, {n(), interval_block_size(options_, n()), most, kSmallCost<Ctx>});
  if (dense_pays(plan.operations) || 2 * plan.columns > n()) return plan_dense();
  if (!plan.fits) {
    const double edge = kEdge * density.resolution();
    const EigenvalueCount sure = density.count(options_.lower + edge, options_.upper - edge);
    const double least = sure.count - kCertain * sure.deviation;
    if (options_.upper - options_.lower > 3 * edge &&
        least > 2 * static_cast<double>(options_.nev)) {
      return end_crowded(
          fmt::format("the interval holds about {:.0f} eigenvalues, more than nev = {}: raise nev",
                      sure.count, options_.nev));
    }
  }
  plan_basis(plan.columns);
  set_filter(plan.degree);
  start(static_cast<Index>(kFirstTest * static_cast<double>(plan.columns)));
}

template <Scalar T, class Ctx>
SpectralDensity IntervalSolve<T, Ctx>::estimate_density() {
  SpectralDensityOptions options;
  const double width = this->width(problem_.A->one_norm());
  options.resolution = std::isfinite(width) ? kResolution * width : 0;
  options.max_degree = kDensityDegree;
  options.vectors = options.block_size = kDensityVectors;
  options.seed = options_.seed;
  options.stop = [this] { return engine_.asked_to_stop(); };
  engine_.begin_stage("estimating the density of eigenvalues");
  return spectral_density(context_, *problem_.A, options);
}

/// X ← I, after what the filter has found so far is deleted.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::plan_dense() {
  search_.reset();
  s_.reset();
  s_.emplace(context_, rows_.local, n(), interval_block_size(options_, n()));
  s_->verifier.norms().prepare(context_, problem_);
  set_identity(context_, s_->X.view(), rows_.first);
  s_->count = n();
}

/// Memory for a basis that is expected to need this number of columns.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::plan_basis(Index columns) {
  const Index b = interval_block_size(options_, n());
  const auto wanted = static_cast<Index>(kSpare * static_cast<double>(columns)) + kSpareBlocks * b;
  const Index m = std::min((wanted + b - 1) / b * b, max_interval_basis(options_, n()));
  const Index pairs = max_interval_pairs(options_, n(), m);
  search_.reset();
  s_.reset();
  s_.emplace(context_, rows_.local, pairs, b);
  s_->verifier.norms().prepare(context_, problem_);
  search_.emplace(
      context_, *problem_.A, m, b, pairs, [this] { return engine_.stop_requested(); },
      options_.seed);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
