#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

template <Scalar T>
void reference_spmm(double alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    double beta, BlockView<T, HostSpace> C) {
  for (Index i = 0; i < A.rows; ++i) {
    for (Index j = 0; j < B.cols(); ++j) {
      double sum = 0;
      for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
        sum += static_cast<double>(A.values[k]) * static_cast<double>(B(A.columns[k], j));
      }
      const double kept = beta == 0 ? 0 : beta * static_cast<double>(C(i, j));
      C(i, j) = static_cast<T>(alpha == 0 ? kept : alpha * sum + kept);
    }
  }
}

#define HEDDLE_INSTANTIATE(T)                                                               \
  template void reference_spmm(double, CsrView<T, HostSpace>, ConstBlockView<T, HostSpace>, \
                               double, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
