#pragma once

namespace heddle {

/// The library that factors A − σB.
enum class FactorLibrary {
  automatic,  ///< the fastest one for the matrix and the place of its memory
  host,       ///< on the host: CHOLMOD or Eigen at an end of the spectrum, MUMPS or Eigen inside
  cudss,      ///< cuDSS, which is loaded at run time, on a GPU
};

}  // namespace heddle
