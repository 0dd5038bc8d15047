#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/blocks/scaled_block.hpp>

namespace heddle {
inline namespace HEDDLE_ISA {

/// The factor of row i.
inline double row_factor(const ScaledView<float, HostSpace>& Z, Index i) {
  return Z.rows.rows() > 0 ? static_cast<double>(Z.rows(i, 0)) : 1.0;
}

/// z ← row i of Z.
inline void read_row(const ScaledView<float, HostSpace>& Z, Index i, double* z) {
  const double row = row_factor(Z, i);
  const float* const y = &Z.block(i, 0);
  const double* const factors = Z.factors.data;
#pragma omp simd
  for (Index j = 0; j < Z.block.cols(); ++j) {
    z[j] = static_cast<double>(y[j]) * factors[j] * row;
  }
}

}  // namespace HEDDLE_ISA
}  // namespace heddle
