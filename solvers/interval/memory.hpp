#pragma once

#include <heddle/solvers/interval/interval_eigenpairs.hpp>

namespace heddle::detail {

/// The number of random vectors of the spectral density.
inline constexpr Index kDensityVectors = 8;

/// The most columns that the basis may have in a solve of order n, a multiple of the block size.
/// 0 if there is no room for a basis, so that the solve must be dense.
Index max_interval_basis(const IntervalOptions& options, Index n) noexcept;

/// The most Ritz pairs of A that are computed from a basis of m columns.
Index max_interval_pairs(const IntervalOptions& options, Index n, Index m) noexcept;

}  // namespace heddle::detail
