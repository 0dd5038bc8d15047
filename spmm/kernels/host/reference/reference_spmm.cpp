#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

template <Scalar T>
void reference_spmm(Wide<T> alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    const SpmmEpilogue<T, HostSpace>& epilogue, BlockView<T, HostSpace> C) {
  const auto term = [](T coefficient, const ConstBlockView<T, HostSpace>& block, Index i, Index j) {
    return coefficient == T{0} ? Wide<T>{0} : Wide<T>(coefficient) * Wide<T>(block(i, j));
  };
  for (Index i = 0; i < A.rows; ++i) {
    for (Index j = 0; j < B.cols(); ++j) {
      Wide<T> sum{0};
      for (Index k = A.row_offsets[i]; alpha != Wide<T>{0} && k < A.row_offsets[i + 1]; ++k) {
        sum += Wide<T>(A.values[k]) * Wide<T>(B(A.columns[k], j));
      }
      const Wide<T> c = (alpha == Wide<T>{0} ? Wide<T>{0} : alpha * sum) +
                        term(epilogue.beta, C, i, j) + term(epilogue.gamma, B, i, j) +
                        term(epilogue.delta, epilogue.X, i, j);
      C(i, j) = static_cast<T>(c);
      if (epilogue.eta != T{0}) {
        epilogue.Y(i, j) = static_cast<T>(Wide<T>(epilogue.Y(i, j)) + Wide<T>(epilogue.eta) * c);
      }
    }
  }
}

template <Scalar T>
void reference_spmm(Wide<T> alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    Wide<T> beta, BlockView<T, HostSpace> C) {
  reference_spmm<T>(alpha, A, B, {.beta = static_cast<T>(beta)}, C);
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template void reference_spmm(Wide<T>, CsrView<T, HostSpace>, ConstBlockView<T, HostSpace>, \
                               Wide<T>, BlockView<T, HostSpace>);                            \
  template void reference_spmm(Wide<T>, CsrView<T, HostSpace>, ConstBlockView<T, HostSpace>, \
                               const SpmmEpilogue<T, HostSpace>&, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
