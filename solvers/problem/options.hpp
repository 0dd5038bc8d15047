#pragma once

#include <cstdint>
#include <heddle/linalg/context/context.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <limits>

namespace heddle {

/// Which end of the spectrum is wanted.
enum class Which { smallest, largest };

/// When a pair (λ, x) with residual r = A x − λ B x, scaled to ‖x‖₂ = 1, counts as converged.
enum class Criterion {
  norm,      ///< ‖r‖ ≤ tolerance·(‖A‖₁ + |λ| ‖B‖₁)
  relative,  ///< ‖r‖ ≤ tolerance·|λ|·‖B‖₁ (‖I‖₁ = 1)
  absolute,  ///< ‖r‖ ≤ tolerance
};

/// The tolerance where none is given.
template <Scalar T>
inline constexpr double kDefaultTolerance = sizeof(T) == sizeof(double) ? 1e-8 : 1e-5;

/// What every eigensolver is asked for.
struct EigenOptions {
  Index nev = 6;  ///< pairs wanted
  Which which = Which::smallest;
  Index block_size = 0;  ///< columns iterated at once; 0: chosen from nev
  double tolerance = 0;  ///< 0: `kDefaultTolerance` of the scalar
  Criterion criterion = Criterion::norm;
  Index max_iterations = 1000;
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 42;
  CheckpointOptions checkpoint{};
};

/// When a column x of a linear system with residual r = b − A x counts as converged.
enum class LinearCriterion {
  relative,  ///< ‖r‖₂ ≤ tolerance·‖b‖₂
  absolute,  ///< ‖r‖₂ ≤ tolerance
};

/// What every solver of linear systems is asked for.
struct LinearOptions {
  double tolerance = 0;  ///< 0: `kDefaultTolerance` of the scalar
  LinearCriterion criterion = LinearCriterion::relative;
  Index max_iterations = 10000;
  double time_limit_s = std::numeric_limits<double>::infinity();
  CheckpointOptions checkpoint{};
};

}  // namespace heddle
