#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <string>

namespace heddle {
namespace {

constexpr Index kLeastRows = 1024;  // rows of a piece of work

/// The pattern of the Laplacian: the diagonal, and both (i, j) and (j, i) for every edge. Its
/// values are not used.
template <Scalar T>
HostCsrMatrix<T> laplacian_pattern(HostContext& context, const CsrView<T, HostSpace>& A) {
  const Slabs pieces = make_slabs(A.rows, kLeastRows);
  return CsrAssembler<T>(context, A.rows, A.cols)
      .assemble(pieces.count(), [&](Index piece, auto emit) {
        for (Index row = pieces.begin(piece); row < pieces.end(piece); ++row) {
          emit(row, row, T{0});
          for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
            const Index col = A.columns[k];
            if (col == row || A.values[k] == T{0}) continue;
            emit(row, col, T{0});
            emit(col, row, T{0});
          }
        }
      });
}

}  // namespace

template <Scalar T>
HostCsrMatrix<T> graph_laplacian(HostContext& context, CsrView<T, HostSpace> A,
                                 LaplacianKind kind) {
  if (A.rows != A.cols) {
    throw InvalidArgument("graph_laplacian: the matrix must be square, got " +
                          std::to_string(A.rows) + "x" + std::to_string(A.cols));
  }
  HostCsrMatrix<T> laplacian = laplacian_pattern(context, A);
  const CsrView<T, HostSpace> pattern = laplacian.view();
  const auto degree = [&](Index row) {
    return static_cast<double>(pattern.row_offsets[row + 1] - pattern.row_offsets[row] - 1);
  };
  parallel_for(context.threads(), A.rows, [&](Index row) {
    for (Index k = pattern.row_offsets[row]; k < pattern.row_offsets[row + 1]; ++k) {
      const Index col = pattern.columns[k];
      double value = col == row ? degree(row) : -1;
      if (kind == LaplacianKind::normalized && value != 0) {
        // The product of two degrees is exact, so the result is symmetric to the bit.
        value /= std::sqrt(degree(row) * degree(col));
      }
      laplacian.values()[k] = static_cast<T>(value);
    }
  });
  return laplacian;
}

#define HEDDLE_INSTANTIATE(T) \
  template HostCsrMatrix<T> graph_laplacian(HostContext&, CsrView<T, HostSpace>, LaplacianKind);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
