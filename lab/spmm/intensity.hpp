#pragma once

#include <heddle/spmm/model/model.hpp>

namespace heddle::lab {

/// Flops of a product with N columns per byte that A in the kernel's format, B and C take. It
/// places a kernel in a roofline, which `heddle plot` draws.
inline double flops_per_byte(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                             const KernelPrediction& prediction) {
  const double width = static_cast<double>(N);
  const double blocks =
      static_cast<double>(A.rows + A.cols) * width * static_cast<double>(scalar_bytes);
  return 2 * static_cast<double>(A.nnz) * width / (prediction.storage_bytes + blocks);
}

}  // namespace heddle::lab
