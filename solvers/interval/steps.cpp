#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/interval/memory.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <numbers>
#include <utility>

namespace heddle::detail {
namespace {

/// The filter decreases from ½ at an end of the interval to a few hundredths over this many widths
/// of its kernel, π/degree in the angle. A smaller value leads to more iterations, a larger one to
/// a higher degree.
constexpr double kFall = 2;
constexpr double kMinDegree = 16;
constexpr double kMaxDegree = 8192;

constexpr double kReal = 0.25;  // x with xᵀFx ≥ kReal belongs to the interval
/// x with xᵀFx ≤ kBeyond lies beyond the surroundings of the interval.
constexpr double kBeyond = 0.1;
/// The degree grows if residuals exceed this share of the previous ones.
constexpr double kSlow = 0.3;

/// The number of times that random columns must be filtered before xᵀFx is reliable. The components
/// of all eigenvectors away from the interval are then small even together.
constexpr Index kFiltersToTrust = 3;

constexpr int kMaxRefills = 3;

}  // namespace

/// Whether filters of the given degree cost more than a dense solve. This takes about 10 n³
/// operations, and a filter about 20 n per column and degree.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::dense_pays(double columns, double degree) const noexcept {
  if (n() <= kIntervalDenseOrder) return true;
  const auto order = static_cast<double>(n());
  const double filters = kFiltersToTrust * 20 * order * columns * std::min(degree, kMaxDegree);
  return n() <= kLargestIntervalDenseOrder && filters > 10 * order * order * order;
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::plan() {
  const PhaseScope phase(context_, Phase::setup);
  const std::optional<double> norm = problem_.A->one_norm();
  const double width = options_.upper - options_.lower;
  const double least_columns = 2.0 * static_cast<double>(interval_block_size(options_, n()));
  // The spectral density for a narrow interval costs more than a dense solve of low order, too.
  if (norm && n() > kIntervalDenseOrder &&
      dense_pays(least_columns, kFall * std::numbers::pi * *norm / width)) {
    convergence_ = EigenConvergence(options_.criterion, options_.tolerance, *norm, 1,
                                    std::numeric_limits<T>::epsilon());
    return draw(n());
  }
  SpectralDensityOptions options;
  options.resolution = 0.5 * (options_.upper - options_.lower);
  options.vectors = options.block_size = kDensityVectors;
  options.seed = options_.seed;
  options.stop = [this] { return engine_.asked_to_stop(); };
  engine_.begin_stage("estimating the density of eigenvalues");
  const SpectralDensity density = spectral_density(context_, *problem_.A, options);
  if (engine_.asked_to_stop()) return engine_.end_as_requested();
  const double size = std::max(std::abs(density.lower()), std::abs(density.upper()));
  convergence_ = EigenConvergence(options_.criterion, options_.tolerance, norm.value_or(size), 1,
                                  std::numeric_limits<T>::epsilon());
  if (!density.finite()) {
    return engine_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  const double rounding = convergence_.noise_floor() * size;
  if (options_.lower > density.upper() + rounding || options_.upper < density.lower() - rounding) {
    return engine_.end(SolveStatus::converged, "the interval lies beyond the spectrum");
  }
  spectrum_ = {density.lower(), density.upper()};
  from_ = spectrum_.angle(options_.upper);
  to_ = spectrum_.angle(options_.lower);
  const double missing = 0.5 * (kFall * std::numbers::pi / kMaxDegree - (to_ - from_));
  if (missing > 0) {
    from_ -= missing;
    to_ += missing;
  }
  set_width(density);
}

/// Sets m and the degree so that X has a column for each eigenvalue whose distance from the
/// interval is at most its width, in the angle. If these are too many columns, the distance is
/// reduced.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_width(const SpectralDensity& density) {
  const Index b = interval_block_size(options_, n());
  const Index most = max_interval_columns(options_, n());
  double near = to_ - from_;
  const auto columns = [&] {
    const EigenvalueCount there =
        density.count(spectrum_.at(to_ + near), spectrum_.at(from_ - near));
    const double wanted = 1.1 * std::max(there.count, 0.0) + 3 * there.deviation;
    return std::min(n(), (static_cast<Index>(wanted) / b + 2) * b);
  };
  const auto degree = [&] { return kFall * std::numbers::pi / near; };
  while (columns() > most && 2 * degree() <= kMaxDegree) near *= 0.5;
  const bool dense = dense_pays(static_cast<double>(columns()), degree());
  draw(dense ? n() : std::min(columns(), most));
  if (this->columns() < n()) set_degree(degree());
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_degree(double degree) {
  const double bounded = std::clamp(std::ceil(degree), kMinDegree, kMaxDegree);
  coefficients_ = band_pass_coefficients(spectrum_, spectrum_.at(to_), spectrum_.at(from_),
                                         static_cast<Index>(bounded));
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::draw(Index columns) {
  filtered_ = 0;
  worst_before_ = 0;
  s_.reset();
  s_.emplace(context_, rows_.local, columns, interval_block_size(options_, n()));
  s_->verifier.norms().prepare(context_, problem_);
  if (columns == n()) {
    coefficients_.clear();
    return set_identity(context_, s_->X.view(), rows_.first);
  }
  fill_random(context_, options_.seed, streams_++, s_->X.view(), rows_.first);
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::filter() {
  s_->inside.clear();
  if (coefficients_.empty()) return;
  const Index b = s_->product.cols();
  for (Index first = 0; first < columns(); first += b) {
    const Index count = std::min(b, columns() - first);
    const Block X = s_->X.columns(first, count);
    const Block FX = s_->product.columns(0, count);
    filter_stopped_ =
        !apply_series<T, Ctx>(context_, s_->recurrence, *problem_.A, spectrum_, coefficients_, X,
                              FX, [this] { return engine_.stop_requested(); });
    if (filter_stopped_) return orthonormalize();  // X stays valid with only some columns filtered
    column_dots<T>(context_, X, FX, s_->dots.view(columns(), 1).block(first, 0, count, 1));
    copy<T>(context_, FX, X);
  }
  ++filtered_;
  read_weights();
  orthonormalize();
}

/// Classifies the Ritz pairs before this filter by their xᵀFx.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::read_weights() {
  const Index m = columns();
  fetch(context_, s_->dots.view(m, 1), SmallView<double, HostSpace>{s_->weights.data(), m, 1, m});
  real_ = 0;
  least_weight_ = 1;
  if (!trusted()) return;
  for (Index j = 0; j < m; ++j) {
    const double weight = s_->weights[static_cast<std::size_t>(j)];
    least_weight_ = std::min(least_weight_, weight);
    if (weight >= kReal && contains(value(j))) ++real_;
  }
}

/// X ← an orthonormal basis of its span, completed by random columns if the rank is less than m.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::orthonormalize() {
  const PhaseScope phase(context_, Phase::orthogonalize);
  const Block X = s_->X.view();
  for (int round = 0; round < kMaxRefills; ++round) {
    const OrthoReport report = s_->orthogonalizer.orthonormalize(context_, X, X);
    if (!report.finite)
      return engine_.end(SolveStatus::breakdown, "products with A are not finite");
    result_.orthogonalization.add(report, X.cols());
    const Index lost = X.cols() - report.rank;
    if (lost == 0) return;
    fill_random(context_, options_.seed, streams_++, X.columns(report.rank, lost), rows_.first);
  }
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::ritz() {
  if (engine_.ended()) return;
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  const Block AX = s_->product.view();
  EigenVerifier<T, Ctx>& verifier = s_->verifier;
  std::vector<Index>& inside = s_->inside;
  if (verifier.rayleigh_ritz(context_, problem_, Which::smallest, s_->X.view(), AX, {}) !=
      DenseFailure::none) {
    return engine_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  verifier.measure(context_, problem_, s_->X.view(), AX, {});
  result_.orthogonality = verifier.orthogonality();
  const bool dense = coefficients_.empty();
  const double beyond = dense ? ErrorBounds::kNoneBeyond : ErrorBounds::kUnknown;
  verifier.judge(convergence_, {.below = beyond, .above = beyond, .dense = dense});
  for (Index j = 0; j < columns(); ++j) {
    if (contains(value(j))) inside.push_back(j);
  }
  std::sort(inside.begin(), inside.end(), [&](Index i, Index j) {
    return std::pair(residual(i), i) < std::pair(residual(j), j);
  });
  if (coefficients_.empty()) real_ = std::ssize(inside);
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::trusted() const noexcept {
  return coefficients_.empty() || filtered_ >= kFiltersToTrust;
}

/// Whether all pairs of the interval pass, and X contains vectors beyond the surroundings of the
/// interval.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::settled() const {
  if (!trusted() || (!coefficients_.empty() && least_weight_ > kBeyond)) return false;
  const auto passing =
      std::count_if(s_->inside.begin(), s_->inside.end(), [&](Index j) { return passes(j); });
  return passing == real_ && result_.orthogonality <= kOrthogonalityLimit<T>;
}

/// Draws a wider X if X contains no vectors beyond the surroundings of the interval. Increases the
/// degree of F if X cannot be widened or residuals decrease slowly.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::adapt() {
  const auto degree = static_cast<double>(coefficients_.size() - 1);
  const bool too_narrow = least_weight_ > kBeyond;
  const double worst = worst_residual();
  const bool slow =
      worst_before_ > 0 && worst > std::max(kSlow * worst_before_, convergence_.noise_floor());
  worst_before_ = worst;
  const Index most = max_interval_columns(options_, n());
  if (too_narrow && columns() < most) return draw(most);
  if (too_narrow && (real_ > options_.nev || degree == kMaxDegree)) {
    return end_crowded(fmt::format(
        "more than nev = {} eigenvalues lie in the interval or very near to it", options_.nev));
  }
  if (too_narrow || slow) set_degree(2 * degree);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IntervalSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
