#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/jacobi_split.hpp>

namespace heddle::detail {

template <Scalar T>
JacobiSplit<T, HostSpace> jacobi_split(HostContext& context, CsrView<T, HostSpace> L) {
  JacobiSplit<T, HostSpace> split{{context, static_cast<std::size_t>(L.rows)},
                                  {context, L.rows, L.cols, L.nnz - L.rows}};
  HostCsrMatrix<T>& N = split.N;
  for (Index i = 0; i < L.rows; ++i) {
    const std::int64_t target = L.row_offsets[i] - i;
    const Index count = L.row_offsets[i + 1] - 1 - L.row_offsets[i];
    N.row_offsets()[i] = target;
    std::copy_n(L.columns + L.row_offsets[i], count, N.columns() + target);
    std::copy_n(L.values + L.row_offsets[i], count, N.values() + target);
    split.inverse_diagonal[static_cast<std::size_t>(i)] = T{1} / L.values[L.row_offsets[i + 1] - 1];
  }
  N.row_offsets()[L.rows] = L.nnz - L.rows;
  return split;
}

template <Scalar T>
HostCsrMatrix<T> scale_rows_of(HostContext&, const Buffer<T, HostSpace>& d, HostCsrMatrix<T> N) {
  const CsrView<T, HostSpace> view = N.view();
  for (Index i = 0; i < view.rows; ++i) {
    for (std::int64_t e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
      N.values()[e] = product(N.values()[e], d[static_cast<std::size_t>(i)]);
    }
  }
  return N;
}

#define HEDDLE_INSTANTIATE(T)                                                           \
  template JacobiSplit<T, HostSpace> jacobi_split(HostContext&, CsrView<T, HostSpace>); \
  template HostCsrMatrix<T> scale_rows_of(HostContext&, const Buffer<T, HostSpace>&,    \
                                          HostCsrMatrix<T>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
