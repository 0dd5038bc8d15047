#pragma once

#include <cstddef>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// Up to this order a dense solve costs less than iterating.
inline constexpr Index kDenseOrder = 256;

/// Up to this order a dense solve may replace an iteration that has cost more. It then takes about
/// as many seconds as 0.5 n² columns multiplied by A.
inline constexpr Index kLargestDenseOrder = 4096;

/// Additions and multiplications of a product with A per row and column, with the recurrence of a
/// polynomial in A.
inline constexpr double kPerProduct = 20;

/// Operations of an eigenproblem of order k relative to k³.
inline constexpr double kPerEigenproblem = 10;

/// Operations of a dense solve of order n.
inline double dense_operations(Index n) noexcept {
  const auto order = static_cast<double>(n);
  return kPerEigenproblem * order * order * order;
}

/// Whether a dense solve of order n may replace an iteration that costs more. `most_bytes`:
/// `EigenOptions::dense_bytes`. A dense solve holds n eigenvectors of `scalar_size` bytes per
/// entry, and five n×n matrices in double precision. Several processes or GPUs each repeat the
/// dense solve of one, with the same bits.
inline bool dense_solve_may_follow(Index n, double most_bytes, std::size_t scalar_size) noexcept {
  const auto entries = static_cast<double>(n) * static_cast<double>(n);
  return n <= kLargestDenseOrder &&
         entries * (5 * 8 + static_cast<double>(scalar_size)) <= most_bytes;
}

}  // namespace heddle::detail
