#pragma once

#include <cstdint>
#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <limits>

namespace heddle {

/// Which end of the spectrum is wanted.
enum class Which { smallest, largest };

/// The condition under which a pair (λ, x) counts as converged, with the residual r = A x − λ B x
/// and ‖x‖₂ = 1.
enum class Criterion {
  norm,      ///< ‖r‖ ≤ tolerance·(‖A‖₁ + |λ| ‖B‖₁)
  relative,  ///< ‖r‖ ≤ tolerance·|λ|·‖B‖₁ (‖I‖₁ = 1)
  absolute,  ///< ‖r‖ ≤ tolerance
  /// The condition of `norm`, and the error of λ is bounded by tolerance·|λ|, or by the rounding
  /// errors of λ where these are larger. See `EigenResult::error_bounds`.
  eigenvalue,
};

/// The tolerance of a solve whose options leave it at 0.
template <Scalar T>
inline constexpr double kDefaultTolerance = sizeof(RealOf<T>) == sizeof(double) ? 1e-8 : 1e-5;

/// The options that all eigensolvers share.
struct EigenOptions {
  Index nev = 6;  ///< pairs wanted
  Which which = Which::smallest;
  Index block_size = 0;                         ///< columns iterated at once. 0: chosen from nev
  double tolerance = 0;                         ///< 0: `kDefaultTolerance` of the scalar
  Criterion criterion = Criterion::eigenvalue;  ///< when a pair counts as converged
  Index max_iterations = 1000;
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 42;
  CheckpointOptions checkpoint{};
  /// The most bytes that a dense solve may take which replaces an iteration that costs more, as
  /// block Lanczos does up to order 4096.
  double dense_bytes = std::numeric_limits<double>::infinity();
};

/// The condition under which a column x of a linear system counts as converged. Its residual is
/// r = b − A x.
enum class LinearCriterion {
  relative,  ///< ‖r‖₂ ≤ tolerance·‖b‖₂
  absolute,  ///< ‖r‖₂ ≤ tolerance
};

/// The options that all solvers of linear systems share.
struct LinearOptions {
  double tolerance = 0;                                   ///< 0: `kDefaultTolerance` of the scalar
  LinearCriterion criterion = LinearCriterion::relative;  ///< when a column counts as converged
  Index max_iterations = 10000;
  double time_limit_s = std::numeric_limits<double>::infinity();
  CheckpointOptions checkpoint{};
};

}  // namespace heddle
