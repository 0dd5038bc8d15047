#pragma once

namespace heddle {

/// The library that factors A − σB.
enum class FactorLibrary {
  automatic,  ///< the fastest one for the matrix and the place of its memory
  host,       ///< on the host: CHOLMOD or Eigen at an end of the spectrum, MUMPS or Eigen inside
  /// cuDSS, which is loaded at run time, on a GPU. It solves for all columns of a block at once.
  /// Its sums have no fixed order, so that two runs may differ by rounding errors.
  cudss,
  cudss_deterministic,  ///< the same column by column, with the same bits in every run
};

/// Whether `library` is cuDSS in one of its modes.
constexpr bool is_cudss(FactorLibrary library) noexcept {
  return library == FactorLibrary::cudss || library == FactorLibrary::cudss_deterministic;
}

}  // namespace heddle
