#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/interval/checks.hpp>
#include <heddle/solvers/interval/solve.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <numbers>
#include <utility>

namespace heddle {

using namespace detail;

namespace {

/// Up to this order a dense solve costs less than iterating.
constexpr Index kDenseOrder = 256;

constexpr Index kDefaultBlock = 16;
constexpr Index kDensityVectors = 16;

/// The filter falls from ½ at an end of the interval to a few hundredths over this many widths of
/// its kernel, π/degree in the angle. Less takes more iterations, more a higher degree.
constexpr double kFall = 2;
constexpr double kMinDegree = 16;
constexpr double kMaxDegree = 8192;

constexpr double kReal = 0.25;   // xᵀFx from here on: x belongs to the interval
constexpr double kBeyond = 0.1;  // xᵀFx up to here: x lies beyond its surroundings
constexpr double kSlow = 0.3;    // residuals that fall less in an iteration: the degree grows

/// Times that random columns must be filtered before xᵀFx says something: what is left of the n
/// eigenvectors away from the interval is then small even together.
constexpr Index kFiltersToTrust = 3;

constexpr int kMaxRefills = 3;

/// The most columns that X may have.
Index max_columns(const IntervalOptions& options, Index n) {
  return std::min(n, n <= kDenseOrder ? n : 4 * options.nev + 4 * interval_block_size(options, n));
}

}  // namespace

Index interval_block_size(const IntervalOptions& options, Index n) noexcept {
  return std::min(options.block_size == 0 ? kDefaultBlock : options.block_size, n);
}

double interval_memory_bytes(const IntervalOptions& options, Index n, std::size_t scalar_size) {
  const auto b = static_cast<double>(interval_block_size(options, n));
  const auto m = static_cast<double>(max_columns(options, n));
  // X, a product, the filter's terms (three where A cannot accumulate); likewise for the density.
  const double columns = m + 4 * b + 4 * static_cast<double>(kDensityVectors);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) + 8 * 12 * m * m;
}

namespace detail {

template <Scalar T, class Ctx>
IntervalBlocks<T, Ctx>::IntervalBlocks(Ctx& context, Index n, Index m, Index b)
    : X(context, n, m),
      product(context, n, b),
      recurrence(context, n, b),
      orthogonalizer(context, m, 0),
      verifier(context, m),
      dots(context, m, 1),
      weights(static_cast<std::size_t>(m)) {
  inside.reserve(static_cast<std::size_t>(m));
}

template <Scalar T, class Ctx>
IntervalSolve<T, Ctx>::IntervalSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                     const IntervalOptions& options, const Monitor& monitor)
    : context_(context),
      problem_(problem),
      options_(options),
      monitor_(monitor),
      n_(problem.A->rows()),
      ending_(options.max_iterations, options.time_limit_s),
      applications_before_(problem.A->columns_applied()) {}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> IntervalSolve<T, Ctx>::run() {
  plan();  // X random                                                      n×m
  while (!ending_.ended()) {
    filter();  // ρ = xᵀF x, X ← F X                                        n×m
    ritz();    // XᵀX = I, XᵀA X = Λ, ‖A x − λ x‖                           m×m
    judge();   // all there, or X wider, or F sharper?
  }
  finish();
  return std::move(result_);
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::plan() {
  const PhaseScope phase(context_, Phase::setup);
  SpectralDensityOptions options;
  options.resolution = 0.5 * (options_.upper - options_.lower);
  options.vectors = options.block_size = kDensityVectors;
  options.seed = options_.seed;
  const SpectralDensity density = spectral_density(context_, *problem_.A, options);
  const double size = std::max(std::abs(density.lower()), std::abs(density.upper()));
  convergence_ =
      EigenConvergence(options_.criterion, options_.tolerance,
                       problem_.A->one_norm().value_or(size), 1, std::numeric_limits<T>::epsilon());
  if (!density.finite()) {
    return ending_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  const double rounding = convergence_.noise_floor() * size;
  if (options_.lower > density.upper() + rounding || options_.upper < density.lower() - rounding) {
    return ending_.end(SolveStatus::converged, "the interval lies beyond the spectrum");
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

/// m and the degree: eigenvalues as near to the interval as it is wide, in the angle, fit in X, or
/// nearer ones only where they would be too many.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_width(const SpectralDensity& density) {
  const Index b = interval_block_size(options_, n_);
  const Index most = max_columns(options_, n_);
  double near = to_ - from_;
  const auto columns = [&] {
    const EigenvalueCount there =
        density.count(spectrum_.at(to_ + near), spectrum_.at(from_ - near));
    const double wanted = 1.1 * std::max(there.count, 0.0) + 3 * there.deviation;
    return std::min(n_, (static_cast<Index>(wanted) / b + 2) * b);
  };
  const auto degree = [&] { return kFall * std::numbers::pi / near; };
  while (columns() > most && 2 * degree() <= kMaxDegree) near *= 0.5;
  draw(n_ <= kDenseOrder ? n_ : std::min(columns(), most));
  if (this->columns() < n_) set_degree(degree());
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::set_degree(double degree) {
  const double bounded = std::clamp(std::ceil(degree), kMinDegree, kMaxDegree);
  coefficients_ = detail::band_pass_coefficients(spectrum_, spectrum_.at(to_), spectrum_.at(from_),
                                                 static_cast<Index>(bounded));
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::draw(Index columns) {
  filtered_ = 0;
  worst_before_ = 0;
  s_.reset();
  s_.emplace(context_, n_, columns, interval_block_size(options_, n_));
  if (columns == n_) {
    coefficients_.clear();
    return set_identity(context_, s_->X.view());
  }
  fill_random(context_, options_.seed, streams_++, s_->X.view());
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
    out_of_time_ = !detail::apply_series<T, Ctx>(context_, s_->recurrence, *problem_.A, spectrum_,
                                                 coefficients_, X, FX,
                                                 [this] { return ending_.out_of_time(context_); });
    if (out_of_time_) return orthonormalize();  // X still spans what it did, or more of the pairs
    column_dots<T>(context_, X, FX, s_->dots.view(columns(), 1).block(first, 0, count, 1));
    copy<T>(context_, FX, X);
  }
  ++filtered_;
  weigh();
  orthonormalize();
}

/// What xᵀFx says of the Ritz pairs before this filter.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::weigh() {
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

/// X ← an orthonormal basis of its span, filled up at random where that is smaller.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::orthonormalize() {
  const PhaseScope phase(context_, Phase::orthogonalize);
  const Block X = s_->X.view();
  for (int round = 0; round < kMaxRefills; ++round) {
    const OrthoReport report = s_->orthogonalizer.orthonormalize(context_, X, X);
    if (!report.finite)
      return ending_.end(SolveStatus::breakdown, "products with A are not finite");
    result_.orthogonalization.add(report, X.cols());
    const Index lost = X.cols() - report.rank;
    if (lost == 0) return;
    fill_random(context_, options_.seed, streams_++, X.columns(report.rank, lost));
  }
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::ritz() {
  if (ending_.ended()) return;
  const PhaseScope phase(context_, Phase::rayleigh_ritz);
  ++result_.iterations;
  const Block AX = s_->product.view();
  EigenVerifier<T, Ctx>& verifier = s_->verifier;
  std::vector<Index>& inside = s_->inside;
  if (verifier.rayleigh_ritz(context_, problem_, Which::smallest, s_->X.view(), AX, {}) !=
      DenseFailure::none) {
    return ending_.end(SolveStatus::breakdown, "products with A are not finite");
  }
  verifier.measure(context_, problem_, s_->X.view(), AX, {});
  result_.orthogonality = verifier.orthogonality();
  for (Index j = 0; j < columns(); ++j) {
    if (contains(value(j))) inside.push_back(j);
  }
  std::sort(inside.begin(), inside.end(), [&](Index i, Index j) {
    return std::pair(residual(i), i) < std::pair(residual(j), j);
  });
  if (coefficients_.empty()) real_ = std::ssize(inside);
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::judge() {
  if (ending_.ended()) return;
  record();
  const std::optional<StopControl::Stop> stop =
      ending_.requested(context_, result_.iterations, !monitor_agrees());
  if (!out_of_time_ && settled()) {
    if (real_ <= options_.nev) {
      ending_.end(SolveStatus::converged,
                  "all pairs of the interval converged and passed verification");
    } else {
      end_crowded(fmt::format("the interval holds {} eigenvalues, more than nev = {}", real_,
                              options_.nev));
    }
  } else if (coefficients_.empty()) {
    ending_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  } else if (stop) {
    ending_.end(*stop);
  } else if (stagnation_.stagnated(result_.iterations, worst_residual(),
                                   convergence_.noise_floor())) {
    ending_.end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
  } else if (trusted()) {
    adapt();
  }
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::adapt() {
  const auto degree = static_cast<double>(coefficients_.size() - 1);
  const bool too_narrow = least_weight_ > kBeyond;
  const double worst = worst_residual();
  const bool slow =
      worst_before_ > 0 && worst > std::max(kSlow * worst_before_, convergence_.noise_floor());
  worst_before_ = worst;
  const Index most = max_columns(options_, n_);
  if (too_narrow && columns() < most) return draw(most);
  if (too_narrow && (real_ > options_.nev || degree == kMaxDegree)) {
    return end_crowded(fmt::format(
        "more than nev = {} eigenvalues lie in the interval or very near to it", options_.nev));
  }
  if (too_narrow || slow) set_degree(2 * degree);
}

/// There are more pairs than were asked for.
template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::end_crowded(std::string reason) {
  crowded_ = std::move(reason);
  ending_.end(SolveStatus::max_iterations, crowded_);
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::contains(double lambda) const noexcept {
  const double rounding = convergence_.noise_floor() * convergence_.scale(lambda);
  return lambda >= options_.lower - rounding && lambda <= options_.upper + rounding;
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::trusted() const noexcept {
  return coefficients_.empty() || filtered_ >= kFiltersToTrust;
}

/// Whether the pairs in the interval are those that pass, and X reaches beyond its surroundings.
template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::settled() const {
  if (!trusted() || (!coefficients_.empty() && least_weight_ > kBeyond)) return false;
  const auto passing = std::count_if(s_->inside.begin(), s_->inside.end(), [&](Index j) {
    return convergence_.passes(value(j), residual(j));
  });
  return passing == real_ && result_.orthogonality <= kOrthogonalityLimit<T>;
}

/// How many of the pairs inside, those with the least residuals, are taken for real.
template <Scalar T, class Ctx>
Index IntervalSolve<T, Ctx>::shown() const noexcept {
  const Index inside = std::ssize(s_->inside);
  return trusted() ? std::min(real_, inside) : inside;
}

template <Scalar T, class Ctx>
double IntervalSolve<T, Ctx>::worst_residual() const {
  double worst = 0;
  for (Index i = 0; i < shown(); ++i) {
    const Index j = s_->inside[static_cast<std::size_t>(i)];
    keep_worst(worst, convergence_.scaled(value(j), residual(j)));
  }
  return worst;
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::record() {
  IterationRecord now;
  now.iteration = result_.iterations;
  now.worst_residual = worst_residual();
  now.seconds = ending_.seconds();
  now.active_columns = columns();
  now.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  for (Index i = 0; i < shown(); ++i) {
    const Index j = s_->inside[static_cast<std::size_t>(i)];
    if (convergence_.passes(value(j), residual(j))) ++now.converged;
    result_.eigenvalues.push_back(value(j));
    result_.residuals.push_back(convergence_.scaled(value(j), residual(j)));
  }
  result_.history.push_back(now);
}

template <Scalar T, class Ctx>
bool IntervalSolve<T, Ctx>::monitor_agrees() {
  return !monitor_ ||
         monitor_({result_.history.back(), options_.nev, result_.eigenvalues, result_.residuals});
}

template <Scalar T, class Ctx>
void IntervalSolve<T, Ctx>::finish() {
  result_.status = ending_.status();
  result_.operator_applications = problem_.A->columns_applied() - applications_before_;
  result_.eigenvalues.clear();
  result_.residuals.clear();
  if (s_ && !s_->inside.empty()) {
    std::vector<Index>& pairs = s_->inside;
    pairs.resize(static_cast<std::size_t>(shown()));
    std::sort(pairs.begin(), pairs.end());
    pairs.resize(std::min(pairs.size(), static_cast<std::size_t>(options_.nev)));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Index j = pairs[i];
      result_.eigenvalues.push_back(value(j));
      result_.residuals.push_back(convergence_.scaled(value(j), residual(j)));
      const auto target = static_cast<Index>(i);
      if (j != target) copy<T>(context_, s_->X.columns(j, 1), s_->X.columns(target, 1));
    }
  }
  result_.eigenvectors = s_ ? std::move(s_->X) : MultiVector<T, Space>(context_, n_, 0);
  result_.reason = fmt::format("{}: {} pairs in {} iterations", ending_.reason(),
                               result_.eigenvalues.size(), result_.iterations);
}

}  // namespace detail

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> interval_eigenpairs(Ctx& context,
                                                        const EigenProblem<T, Ctx>& problem,
                                                        const IntervalOptions& options,
                                                        const Monitor& monitor) {
  check_interval(problem, options);
  IntervalOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return IntervalSolve<T, Ctx>(context, problem, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                  \
  template EigenResult<T, typename Ctx::Space> interval_eigenpairs( \
      Ctx&, const EigenProblem<T, Ctx>&, const IntervalOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
