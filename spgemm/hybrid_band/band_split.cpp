#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spgemm/hybrid_band.hpp>
#include <heddle/spgemm/share.hpp>
#include <limits>
#include <optional>

namespace heddle {
namespace {

constexpr std::size_t kTerms = 3;
using Row = std::array<double, kTerms>;

/// The terms of a sample over its time, so that the fit minimises relative errors.
Row scaled_terms(const BandSample& sample) {
  return {sample.work.multiplications / sample.ms, sample.work.entries / sample.ms, 1 / sample.ms};
}

/// The least-squares coefficients of the terms in `chosen`, a set of bits. 0 for all others. None
/// if the samples do not determine them or if one is negative.
std::optional<Row> fit_terms(std::span<const BandSample> samples, unsigned chosen) {
  std::array<Row, kTerms> normal{};
  Row right{};
  for (const BandSample& sample : samples) {
    const Row terms = scaled_terms(sample);
    for (std::size_t i = 0; i < kTerms; ++i) {
      right[i] += terms[i];
      for (std::size_t j = 0; j < kTerms; ++j) normal[i][j] += terms[i] * terms[j];
    }
  }
  // Gauss-Jordan elimination of the chosen terms, scaled to a unit diagonal.
  Row scale{};
  for (std::size_t i = 0; i < kTerms; ++i) scale[i] = 1 / std::sqrt(normal[i][i]);
  for (std::size_t i = 0; i < kTerms; ++i) {
    right[i] *= scale[i];
    for (std::size_t j = 0; j < kTerms; ++j) normal[i][j] *= scale[i] * scale[j];
  }
  constexpr double kSingular = 1e-10;
  for (std::size_t p = 0; p < kTerms; ++p) {
    if ((chosen >> p & 1U) == 0) continue;
    if (!(normal[p][p] > kSingular)) return std::nullopt;
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (i == p || (chosen >> i & 1U) == 0) continue;
      const double factor = normal[i][p] / normal[p][p];
      for (std::size_t j = 0; j < kTerms; ++j) normal[i][j] -= factor * normal[p][j];
      right[i] -= factor * right[p];
    }
  }
  Row result{};
  for (std::size_t i = 0; i < kTerms; ++i) {
    if ((chosen >> i & 1U) == 0) continue;
    result[i] = right[i] / normal[i][i] * scale[i];
    if (!(result[i] >= 0)) return std::nullopt;
  }
  return result;
}

double squared_error(std::span<const BandSample> samples, const Row& coefficients) {
  double sum = 0;
  for (const BandSample& sample : samples) {
    const Row terms = scaled_terms(sample);
    double predicted = 0;
    for (std::size_t i = 0; i < kTerms; ++i) predicted += coefficients[i] * terms[i];
    sum += (predicted - 1) * (predicted - 1);
  }
  return sum;
}

}  // namespace

BandCost fit_band_cost(std::span<const BandSample> samples) {
  if (samples.empty()) throw InvalidArgument("the cost of band products: there are no samples");
  for (const BandSample& sample : samples) {
    if (!(sample.ms > 0 && std::isfinite(sample.ms) && sample.work.multiplications > 0 &&
          sample.work.entries > 0)) {
      throw InvalidArgument(
          "the cost of band products: each sample needs a positive size and a positive time");
    }
  }
  // The best fit with no negative coefficient is the unconstrained fit of some set of terms.
  Row best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned chosen = 1; chosen < 1U << kTerms; ++chosen) {
    const std::optional<Row> fit = fit_terms(samples, chosen);
    if (!fit) continue;
    const double error = squared_error(samples, *fit);
    if (error < least) {
      least = error;
      best = *fit;
    }
  }
  return {best[0], best[1], best[2]};
}

double band_split(const BandCosts& costs, const BandWork& work) noexcept {
  const SharedCosts shared{{costs.host.slope(work), costs.host.latency},
                           {costs.gpu.slope(work), costs.gpu.latency},
                           costs.host_alone.ms(work),
                           costs.gpu_alone.ms(work)};
  const bool host_is_faster = shared.host_alone_ms <= shared.gpu_alone_ms;
  const double faster = host_is_faster ? shared.host_alone_ms : shared.gpu_alone_ms;
  const double joining = host_is_faster ? shared.gpu.latency : shared.host.latency;
  return balanced_share(shared, std::max(kLeastGain, faster > 0 ? joining / faster : 0));
}

}  // namespace heddle
