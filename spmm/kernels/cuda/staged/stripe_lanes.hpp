#pragma once

#include <heddle/linalg/context/context.hpp>

/// How `staged` deals the columns of C to threads, for the kernel and for the model. Needs no GPU.
/// A vector is 16 bytes of a row.
namespace heddle::detail::cuda {

/// Threads whose vectors are loaded from shared memory at once: 128 bytes. They meet no bank
/// conflicts if they read the same row of B.
inline constexpr int kPhase = 8;

/// `vectors`, rounded up to a multiple of `unit`.
constexpr Index padded_vectors(Index vectors, Index unit) noexcept {
  return (vectors + unit - 1) / unit * unit;
}

/// Whether threads of narrow row blocks have two vectors each, so that stripes have whole phases:
/// where at most a quarter of the vectors of these lies behind the last column.
constexpr bool has_paired_vectors(Index vectors) noexcept {
  return 4 * vectors >= 3 * padded_vectors(vectors, kPhase);
}

/// The most threads per row of C with two vectors each: eight, or four where that leaves fewer
/// vectors behind the last column.
constexpr int paired_lanes(Index vectors) noexcept {
  return padded_vectors(vectors, kPhase) < padded_vectors(vectors, 2 * kPhase) ? 4 : 8;
}

}  // namespace heddle::detail::cuda
