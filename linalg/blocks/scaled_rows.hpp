#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/blocks/convert.hpp>

namespace heddle {
inline namespace HEDDLE_ISA {

/// The entries of a scaled block, computed where they are read.
class ScaledEntries {
 public:
  explicit ScaledEntries(const ScaledView<float, HostSpace>& Z)
      : entries_(Z.block.data()), ld_(Z.block.ld()), factors_(Z.factors.data) {
    if (Z.rows.rows() == 0) return;
    rows_ = Z.rows.data();
    row_ld_ = Z.rows.ld();
  }

  double operator()(Index i, Index j) const {
    return static_cast<double>(entries_[i * ld_ + j]) * factors_[j] *
           static_cast<double>(rows_[i * row_ld_]);
  }

 private:
  static constexpr float kOne = 1;

  const float* entries_;
  Index ld_;
  const double* factors_;
  const float* rows_ = &kOne;  // without rows, all of them
  Index row_ld_ = 0;
};

/// z ← row i of Z.
inline void read_row(const ScaledView<float, HostSpace>& Z, Index i, double* z) {
  const ScaledEntries at(Z);
#pragma omp simd
  for (Index j = 0; j < Z.block.cols(); ++j) z[j] = at(i, j);
}

}  // namespace HEDDLE_ISA
}  // namespace heddle
