#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/plan/product_checks.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <map>
#include <vector>

namespace heddle {

template <Scalar T>
HostCsrMatrix<T> reference_spgemm(HostContext& context, CsrView<T, HostSpace> A,
                                  CsrView<T, HostSpace> B) {
  detail::require_factors(A, B);
  std::vector<std::map<std::int32_t, double>> rows(static_cast<std::size_t>(A.rows));
  Index nnz = 0;
  for (Index i = 0; i < A.rows; ++i) {
    std::map<std::int32_t, double>& row = rows[static_cast<std::size_t>(i)];
    for (Index a = A.row_offsets[i]; a < A.row_offsets[i + 1]; ++a) {
      const Index k = A.columns[a];
      for (Index b = B.row_offsets[k]; b < B.row_offsets[k + 1]; ++b) {
        row[B.columns[b]] += static_cast<double>(A.values[a]) * static_cast<double>(B.values[b]);
      }
    }
    nnz += static_cast<Index>(row.size());
  }
  HostCsrMatrix<T> C(context, A.rows, B.cols, nnz);
  Index next = 0;
  C.row_offsets()[0] = 0;
  for (Index i = 0; i < A.rows; ++i) {
    for (const auto& [column, value] : rows[static_cast<std::size_t>(i)]) {
      C.columns()[next] = column;
      C.values()[next++] = static_cast<T>(value);
    }
    C.row_offsets()[i + 1] = next;
  }
  return C;
}

#define HEDDLE_INSTANTIATE(T)                                                     \
  template HostCsrMatrix<T> reference_spgemm(HostContext&, CsrView<T, HostSpace>, \
                                             CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
