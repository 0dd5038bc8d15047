#pragma once

#include <cstdint>
#include <functional>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <vector>

namespace heddle {

/// The resolution and the statistical accuracy with which eigenvalues are counted.
struct SpectralDensityOptions {
  /// The distance at which eigenvalues are resolved, in the unit of the eigenvalues. 0: a 300th of
  /// the spectrum's width. The number of products per vector is proportional to 1/resolution, and
  /// is at least 32.
  double resolution = 0;
  /// The largest number of moments per vector, of which each product gives two. It limits the
  /// resolution to about π/max_degree times half of the spectrum's width.
  Index max_degree = 16384;
  Index vectors = 32;     ///< random vectors. Statistical errors decrease as 1/√vectors
  Index block_size = 16;  ///< random vectors that are multiplied at once
  std::uint64_t seed = 42;
  /// Called between products. True ends the estimate, which is then not `finite`.
  std::function<bool()> stop{};
};

/// An estimated number of eigenvalues.
struct EigenvalueCount {
  double count = 0;  ///< the estimate, which need not be an integer
  /// Standard deviation of `count`, estimated from the scatter between the random vectors. It is
  /// about √(2 count/vectors), and 0 for a single vector.
  double deviation = 0;
};

/// Estimated numbers of eigenvalues of a symmetric operator in intervals, by the kernel polynomial
/// method. A count is the trace of a polynomial in A that approximates the indicator function of
/// the interval, estimated by quadratic forms with random vectors.
///
/// `count` has two errors. The statistical error is estimated by `deviation`: except in a few cases
/// per 1000, the mean over all seeds lies within 3 deviations. The smoothing error comes from
/// eigenvalues within about `resolution` of an end of the interval. They count in part, by one half
/// at the end itself.
///
/// Source: Weiße, Wellein, Alvermann, Fehske, Rev. Mod. Phys. 78 (2006) 275; Di Napoli, Polizzi,
/// Saad, Numer. Linear Algebra Appl. 23 (2016) 674.
class SpectralDensity {
 public:
  /// `moments` holds xᵀT_k(Ã)x/xᵀx for all random vectors x, with k = 0 … degree running fastest. Ã
  /// is A shifted and scaled so that its spectrum, which [lower, upper] contains, lies in [−1, 1].
  SpectralDensity(Index n, double lower, double upper, Index degree, std::vector<double> moments);

  Index order() const noexcept { return n_; }  ///< n, the number of all eigenvalues

  /// [lower(), upper()] contains the spectrum and is hardly wider.
  double lower() const noexcept { return lower_; }
  double upper() const noexcept { return upper_; }

  /// The width of the smoothing in the middle of the spectrum. It decreases towards the ends.
  double resolution() const noexcept;

  /// False if products with A were not finite. All counts are then NaN.
  bool finite() const noexcept;

  /// The estimated number of eigenvalues in [a, b], a ≤ b. It is exactly n for [lower(), upper()].
  EigenvalueCount count(double a, double b) const;

  /// The estimated numbers of eigenvalues in `bins` ≥ 1 equal parts of [lower(), upper()], in
  /// ascending order.
  std::vector<EigenvalueCount> histogram(Index bins) const;

 private:
  Index n_;
  double lower_;
  double upper_;
  Index degree_;
  std::vector<double> moments_;
};

/// The spectral density of a symmetric A. The symmetry is not checked. The same seed gives the same
/// bits.
///
/// The ends of the spectrum are estimated by Lanczos steps. Moments larger than any eigenvalue in
/// the interval can cause show that eigenvalues lie outside. The interval is then widened, and the
/// moments are computed again. Throws `InvalidArgument`, naming both sides, if A is not square, A
/// is empty or an option is out of range. Throws `OutOfMemory`.
template <Scalar T, class Ctx>
SpectralDensity spectral_density(Ctx& context, LinearOperator<T, Ctx>& A,
                                 const SpectralDensityOptions& options = {});

}  // namespace heddle
