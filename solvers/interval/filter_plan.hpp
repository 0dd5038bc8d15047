#pragma once

#include <concepts>
#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/interval/band_pass_filter.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>

namespace heddle::detail {

inline constexpr Index kMaxFilterDegree = 8192;

/// The time of an operation on small matrices, which are on the host, relative to one on long
/// blocks.
template <class Ctx>
inline constexpr double kSmallCost = std::same_as<Ctx, HostContext> ? 1 : 64;

/// The sizes among which `plan_filter` chooses.
struct FilterLimits {
  Index n = 0;             ///< order of the problem
  Index block = 0;         ///< b, columns per step
  Index most_columns = 0;  ///< of the basis
  double small_cost = 1;   ///< see `kSmallCost`
};

/// The choice for block Lanczos with a band-pass filter.
struct FilterPlan {
  Index degree = 0;
  Index columns = 0;  ///< of the basis, at which all pairs of the interval are expected to converge
  double operations = 0;  ///< of all steps, in additions and multiplications
  bool fits = true;       ///< whether the basis may have this many columns
};

/// The columns at which block Lanczos on a filter of degree d is expected to converge: 1.45 per
/// eigenvalue within 3/d of the interval in the angle, and five blocks. These numbers are measured
/// on cubes and hold within a tenth.
double expected_columns(const SpectralDensity& density, const AngleRange& range, double degree,
                        Index block);

/// The degree with the fewest operations. A lower degree takes fewer products in all, because it
/// resolves eigenvalues that the basis resolves anyway, but more columns, whose orthonormalisation
/// and small eigenproblems cost time, too. If the basis is too small for every degree, the highest
/// one, with a basis that restarts.
FilterPlan plan_filter(const SpectralDensity& density, const AngleRange& range,
                       const FilterLimits& limits);

}  // namespace heddle::detail
