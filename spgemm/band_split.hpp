#pragma once

#include <heddle/linalg/context/context.hpp>
#include <span>

/// How a product of band matrices is shared between the host and a GPU. Source: Matam, Indarapu,
/// Kothapalli, Sparse Matrix-Matrix Multiplication on Modern Architectures, HiPC 2012, section 4.3.
namespace heddle {

/// The size of a product C = A B of band matrices.
struct BandWork {
  double multiplications = 0;  ///< R = rows of A · diagonals of A · diagonals of B
  double entries = 0;          ///< S = rows of C · diagonals of C
};

/// The time of a product on one side, in ms: per_multiplication·R + per_entry·S + latency.
struct BandCost {
  double per_multiplication = 0;  ///< the paper's α on the host, β on a GPU
  double per_entry = 0;           ///< the paper's γ on a GPU, whose results are copied to the host
  double latency = 0;             ///< what a product takes that does not grow with its size

  double slope(const BandWork& work) const noexcept {
    return per_multiplication * work.multiplications + per_entry * work.entries;
  }
  double ms(const BandWork& work) const noexcept { return slope(work) + latency; }
};

/// A product that took `ms`.
struct BandSample {
  BandWork work;
  double ms = 0;
};

/// The coefficients, none of them negative, with the least sum of squares of relative errors.
/// Throws `InvalidArgument` without samples and for a time that is not positive.
BandCost fit_band_cost(std::span<const BandSample> samples);

/// The costs of both sides while the other one works too, and of each one alone. Both use the
/// memory of the host, so a side is slower beside the other one.
struct BandCosts {
  BandCost host;
  BandCost gpu;
  BandCost host_alone;
  BandCost gpu_alone;
};

/// The share t of the rows, 0 … 1, with which the host finishes when the GPU does: with
/// c = slope of the host and g = slope of the GPU, t c + latency_host = (1 − t) g + latency_gpu.
/// Without latencies and with host.per_entry = 0 it is the paper's (β R + γ S)/((α + β) R + γ S). A
/// bandwidth-bound host needs its per_entry, a small product the latencies. 1 or 0, one side alone,
/// unless sharing saves more than the latency of the side that joins the faster one and more than
/// the part `kLeastGain`. A joining side that takes up to twice its latency thus makes no product
/// slower.
double band_split(const BandCosts& costs, const BandWork& work) noexcept;

}  // namespace heddle
