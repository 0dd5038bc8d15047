#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <string>

namespace heddle {

template <Scalar T>
HostCsrMatrix<T> symmetric_part(HostContext& context, CsrView<T, HostSpace> A) {
  if (A.rows != A.cols) {
    throw InvalidArgument("symmetric_part: the matrix is " + std::to_string(A.rows) + " x " +
                          std::to_string(A.cols) + ", it must be square");
  }
  constexpr Index kLeastRows = 1 << 12;  // of a piece of work
  const Slabs pieces = make_slabs(A.rows, kLeastRows);
  return CsrAssembler<T>(context, A.rows, A.cols)
      .assemble(pieces.count(), [&](Index piece, auto emit) {
        for (Index row = pieces.begin(piece); row < pieces.end(piece); ++row) {
          for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
            const T half = A.values[k] / RealOf<T>{2};
            emit(row, A.columns[k], half);
            emit(A.columns[k], row, conjugate(half));
          }
        }
      });
}

template <Scalar T>
double relative_asymmetry(HostContext& context, CsrView<T, HostSpace> A) {
  double largest = 0;
  for (Index k = 0; k < A.nnz; ++k) {
    const double size = static_cast<double>(std::abs(A.values[k]));
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  double difference = 0;
  for (const auto& pair : find_asymmetry(context, A, 0)) {
    difference = std::abs(pair.value - conjugate(pair.transposed));
  }
  return difference == 0 ? 0 : difference / largest;
}

#define HEDDLE_INSTANTIATE(T)                                                    \
  template HostCsrMatrix<T> symmetric_part(HostContext&, CsrView<T, HostSpace>); \
  template double relative_asymmetry(HostContext&, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
