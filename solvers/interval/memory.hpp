#pragma once

#include <heddle/solvers/interval/interval_eigenpairs.hpp>

namespace heddle::detail {

/// Up to this order a dense solve costs less than iterating.
inline constexpr Index kIntervalDenseOrder = 256;

/// Up to this order a dense solve may cost less than iterating, where the interval is so narrow
/// that filters have a high degree.
inline constexpr Index kLargestIntervalDenseOrder = 1024;

/// The number of random vectors of the spectral density.
inline constexpr Index kDensityVectors = 16;

/// The most columns that X may have in a solve of order n.
Index max_interval_columns(const IntervalOptions& options, Index n) noexcept;

}  // namespace heddle::detail
