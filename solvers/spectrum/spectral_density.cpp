#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <limits>
#include <numbers>
#include <utility>

namespace heddle {
namespace {

constexpr Index kEndSteps = 40;   // Lanczos steps to estimate the ends of the spectrum
constexpr double kMargin = 0.01;  // margin beyond the estimated ends, relative to the half width
/// Widening if the margin was too small, relative to the half width.
constexpr double kWidening = 0.1;
constexpr int kMaxWidenings = 20;

constexpr Index kDefaultDegree = 512;
constexpr Index kMinDegree = 64;

/// An interval of positive width around [lower, upper].
detail::ChebyshevInterval around(double lower, double upper, double margin, double epsilon) {
  const double size = std::max(std::abs(lower), std::abs(upper));
  const double beyond =
      std::max(0.5 * margin * (upper - lower), size > 0 ? 100 * epsilon * size : 1.0);
  return {lower - beyond, upper + beyond};
}

/// An even degree whose kernel, π/degree wide in the angle, has the requested resolution.
Index degree_for(const SpectralDensityOptions& options, double half_width) {
  const auto most = static_cast<double>(options.max_degree / 2);
  const double half = options.resolution == 0
                          ? kDefaultDegree / 2
                          : std::ceil(0.5 * std::numbers::pi * half_width / options.resolution);
  return std::max(2 * static_cast<Index>(std::min(half, most)), kMinDegree);
}

/// Appends the moments 0 … `degree` of each column of X to `moments`. Each product gives two
/// moments by T_2k = 2 T_k² − 1. Returns false, without moments, if `stop` ends it. Source: Weiße
/// et al., section II.B.
template <Scalar T, class Ctx>
bool append_moments(Ctx& context, LinearOperator<T, Ctx>& A,
                    const detail::ChebyshevInterval& interval,
                    detail::ChebyshevRecurrence<T, Ctx>& recurrence,
                    ConstBlockView<T, typename Ctx::Space> X,
                    SmallView<double, typename Ctx::Space> dots,
                    SmallView<double, HostSpace> fetched, const std::function<bool()>& stop,
                    std::vector<double>& moments) {
  const Index degree = dots.cols - 1;
  const auto column = [&](Index k) { return dots.block(0, k, dots.rows, 1); };
  column_dots(context, X, X, column(0));
  recurrence.start(context, A, interval, X);
  for (Index k = 1;; ++k) {
    column_dots(context, recurrence.term(), recurrence.before(), column(2 * k - 1));
    column_dots(context, recurrence.term(), recurrence.term(), column(2 * k));
    if (2 * k == degree) break;
    if (stop && stop()) return false;
    recurrence.step(context);
  }
  fetch(context, dots, fetched);
  for (Index j = 0; j < dots.rows; ++j) {
    const double square = fetched(j, 0);
    const double first = fetched(j, 1) / square;
    moments.insert(moments.end(), {1.0, first});
    for (Index k = 2; k <= degree; ++k) {
      moments.push_back(2 * fetched(j, k) / square - (k % 2 == 0 ? 1 : first));
    }
  }
  return true;
}

/// The moments of all random vectors, which are multiplied in blocks. A single NaN if
/// `options.stop` ends the products.
template <Scalar T, class Ctx>
std::vector<double> all_moments(Ctx& context, LinearOperator<T, Ctx>& A,
                                const detail::ChebyshevInterval& interval, Index degree,
                                const SpectralDensityOptions& options) {
  using Space = typename Ctx::Space;
  const Index b = std::min(options.block_size, options.vectors);
  MultiVector<T, Space> block(context, A.rows(), b);
  detail::ChebyshevRecurrence<T, Ctx> recurrence(context, A.rows(), b);
  SmallMatrix<double, Space> dots(context, b, degree + 1);
  HostContext host(1);
  SmallMatrix<double, HostSpace> fetched(host, b, degree + 1);
  std::vector<double> moments;
  moments.reserve(static_cast<std::size_t>(options.vectors * (degree + 1)));
  for (Index first = 0; first < options.vectors; first += b) {
    const Index count = std::min(b, options.vectors - first);
    const auto X = block.columns(0, count);
    fill_random(context, options.seed, static_cast<std::uint64_t>(first), X, A.row_range().first);
    if (!append_moments<T, Ctx>(context, A, interval, recurrence, X, dots.view(count, degree + 1),
                                fetched.view(count, degree + 1), options.stop, moments)) {
      return {std::numeric_limits<double>::quiet_NaN()};
    }
  }
  return moments;
}

/// Whether moments are, up to rounding, possible for a spectrum within the interval.
template <Scalar T>
bool within(const std::vector<double>& moments, Index degree) {
  const double rounding = static_cast<double>(degree * degree) *
                          static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  return std::all_of(moments.begin(), moments.end(), [&](double moment) {
    return !(std::abs(moment) > 1.01 + rounding);  // NaN counts as possible
  });
}

template <Scalar T, class Ctx>
void check(const LinearOperator<T, Ctx>& A, const SpectralDensityOptions& options) {
  const auto require = [](bool holds, const std::string& message) {
    if (!holds) throw InvalidArgument("spectral_density: " + message);
  };
  require(A.rows() == A.cols() && A.rows() >= 1,
          fmt::format("A must be square with a row at least, it is {}x{}", A.rows(), A.cols()));
  require(options.resolution >= 0 && std::isfinite(options.resolution),
          fmt::format("the resolution must not be negative, it is {}", options.resolution));
  require(options.max_degree >= kMinDegree,
          fmt::format("max_degree must be at least {}, it is {}", kMinDegree, options.max_degree));
  require(options.vectors >= 1,
          fmt::format("at least 1 random vector is needed, there are {}", options.vectors));
  require(options.block_size >= 1,
          fmt::format("the block size must be at least 1, it is {}", options.block_size));
}

}  // namespace

SpectralDensity::SpectralDensity(Index n, double lower, double upper, Index degree,
                                 std::vector<double> moments)
    : n_(n), lower_(lower), upper_(upper), degree_(degree), moments_(std::move(moments)) {}

double SpectralDensity::resolution() const noexcept {
  return std::numbers::pi / static_cast<double>(degree_) * 0.5 * (upper_ - lower_);
}

bool SpectralDensity::finite() const noexcept {
  return std::all_of(moments_.begin(), moments_.end(), [](double m) { return std::isfinite(m); });
}

EigenvalueCount SpectralDensity::count(double a, double b) const {
  const std::vector<double> c = detail::band_pass_coefficients({lower_, upper_}, a, b, degree_);
  double sum = 0;
  double squares = 0;
  const std::size_t vectors = moments_.size() / c.size();
  for (std::size_t j = 0; j < vectors; ++j) {
    double trace = 0;  // estimated trace of the polynomial from vector j alone
    for (std::size_t k = 0; k < c.size(); ++k) trace += c[k] * moments_[j * c.size() + k];
    sum += trace;
    squares += trace * trace;
  }
  const auto count = static_cast<double>(vectors);
  const auto n = static_cast<double>(n_);
  const double mean = sum / count;
  const double scatter = std::max(squares / count - mean * mean, 0.0);
  return {n * mean, vectors > 1 ? n * std::sqrt(scatter / (count - 1)) : 0};
}

std::vector<EigenvalueCount> SpectralDensity::histogram(Index bins) const {
  if (bins < 1) {
    throw InvalidArgument(
        fmt::format("SpectralDensity::histogram: at least 1 bin is needed, there are {}", bins));
  }
  const auto edge = [&](Index bin) {
    return lower_ + (upper_ - lower_) * static_cast<double>(bin) / static_cast<double>(bins);
  };
  std::vector<EigenvalueCount> counts;
  for (Index bin = 0; bin < bins; ++bin) counts.push_back(count(edge(bin), edge(bin + 1)));
  return counts;
}

template <Scalar T, class Ctx>
SpectralDensity spectral_density(Ctx& context, LinearOperator<T, Ctx>& A,
                                 const SpectralDensityOptions& options) {
  check(A, options);
  const Index n = A.row_range().global;
  const detail::SpectrumBounds ends = detail::lanczos_bounds(context, A, kEndSteps);
  const double epsilon = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  detail::ChebyshevInterval interval =
      around(std::max(ends.lower, ends.smallest_ritz - ends.smallest_residual),
             std::min(ends.upper, ends.largest_ritz + ends.largest_residual), kMargin, epsilon);
  if (!std::isfinite(interval.half_width())) {
    return {n, interval.lower, interval.upper, 0, {std::numeric_limits<double>::quiet_NaN()}};
  }
  for (int widenings = 0;; ++widenings) {
    const Index degree = degree_for(options, interval.half_width());
    std::vector<double> moments = all_moments(context, A, interval, degree, options);
    if (within<T>(moments, degree) || widenings == kMaxWidenings) {
      return {n, interval.lower, interval.upper, degree, std::move(moments)};
    }
    interval = around(interval.lower, interval.upper, 2 * kWidening, epsilon);
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                         \
  template SpectralDensity spectral_density(Ctx&, LinearOperator<T, Ctx>&, \
                                            const SpectralDensityOptions&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
