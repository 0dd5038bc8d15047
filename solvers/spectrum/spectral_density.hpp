#pragma once

#include <cstdint>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <vector>

namespace heddle {

/// How finely and how surely eigenvalues are counted.
struct SpectralDensityOptions {
  /// Distance at which eigenvalues are told apart, in their own unit; 0: a 300th of the spectrum's
  /// width. Products with each vector go as its inverse, from 32 to 8192.
  double resolution = 0;
  Index vectors = 32;     ///< random vectors; statistical errors fall as 1/√vectors
  Index block_size = 16;  ///< of them multiplied at once
  std::uint64_t seed = 42;
};

/// An estimated number of eigenvalues.
struct EigenvalueCount {
  double count = 0;
  /// Standard deviation of `count`, from the scatter between the random vectors; about
  /// √(2 count/vectors). 0 where there was one vector.
  double deviation = 0;
};

/// How many eigenvalues of a symmetric operator lie where, by the kernel polynomial method: the
/// trace of a polynomial that smooths the indicator function of an interval, averaged over random
/// vectors.
///
/// `count` has two errors. The statistical one is estimated: the mean over all seeds lies within
/// 3 deviations but in a few cases in 1000. The other one is that an eigenvalue near the end of an
/// interval counts in part, by half at the end itself: nearer than about `resolution`.
///
/// Source: Weiße, Wellein, Alvermann, Fehske, Rev. Mod. Phys. 78 (2006) 275; Di Napoli, Polizzi,
/// Saad, Numer. Linear Algebra Appl. 23 (2016) 674.
class SpectralDensity {
 public:
  /// From the moments of all vectors x, xᵀT_k(Ã)x/xᵀx, k = 0 … degree running fastest; Ã is A with
  /// [lower, upper], which holds its spectrum, mapped to [−1, 1].
  SpectralDensity(Index n, double lower, double upper, Index degree, std::vector<double> moments);

  Index order() const noexcept { return n_; }  ///< n, the number of all eigenvalues

  /// An interval that holds the spectrum, hardly wider than it.
  double lower() const noexcept { return lower_; }
  double upper() const noexcept { return upper_; }

  /// Width of the smoothing in the middle of the spectrum; it is finer towards the ends.
  double resolution() const noexcept;

  /// False where products with A were not finite; all counts are then NaN.
  bool finite() const noexcept;

  /// Eigenvalues in [a, b], a ≤ b. Exactly n for all of [lower, upper].
  EigenvalueCount count(double a, double b) const;

  /// Eigenvalues in each of `bins` ≥ 1 equal parts of [lower, upper], from below.
  std::vector<EigenvalueCount> histogram(Index bins) const;

 private:
  Index n_;
  double lower_;
  double upper_;
  Index degree_;
  std::vector<double> moments_;
};

/// The spectral density of A, symmetric; nothing checks that here. The same bits for the same seed.
///
/// The ends of the spectrum come from Lanczos steps. Eigenvalues beyond would show in moments
/// larger than any inside can cause: the interval is then widened, and the moments made anew.
/// Throws `InvalidArgument`, naming both sides, where A is not square or empty or an option is out
/// of range; `OutOfMemory`.
template <Scalar T, class Ctx>
SpectralDensity spectral_density(Ctx& context, LinearOperator<T, Ctx>& A,
                                 const SpectralDensityOptions& options = {});

}  // namespace heddle
