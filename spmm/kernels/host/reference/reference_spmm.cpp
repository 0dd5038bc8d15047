#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/spmm.hpp>

namespace heddle {

template <Scalar T>
void reference_spmm(double alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    const SpmmEpilogue<T, HostSpace>& epilogue, BlockView<T, HostSpace> C) {
  const auto term = [](T coefficient, const ConstBlockView<T, HostSpace>& block, Index i, Index j) {
    return coefficient == T{0}
               ? 0.0
               : static_cast<double>(coefficient) * static_cast<double>(block(i, j));
  };
  for (Index i = 0; i < A.rows; ++i) {
    for (Index j = 0; j < B.cols(); ++j) {
      double sum = 0;
      for (Index k = A.row_offsets[i]; alpha != 0 && k < A.row_offsets[i + 1]; ++k) {
        sum += static_cast<double>(A.values[k]) * static_cast<double>(B(A.columns[k], j));
      }
      const double c = (alpha == 0 ? 0 : alpha * sum) + term(epilogue.beta, C, i, j) +
                       term(epilogue.gamma, B, i, j) + term(epilogue.delta, epilogue.X, i, j);
      C(i, j) = static_cast<T>(c);
      if (epilogue.eta != T{0}) {
        epilogue.Y(i, j) = static_cast<T>(static_cast<double>(epilogue.Y(i, j)) +
                                          static_cast<double>(epilogue.eta) * c);
      }
    }
  }
}

template <Scalar T>
void reference_spmm(double alpha, CsrView<T, HostSpace> A, ConstBlockView<T, HostSpace> B,
                    double beta, BlockView<T, HostSpace> C) {
  reference_spmm<T>(alpha, A, B, {.beta = static_cast<T>(beta)}, C);
}

#define HEDDLE_INSTANTIATE(T)                                                               \
  template void reference_spmm(double, CsrView<T, HostSpace>, ConstBlockView<T, HostSpace>, \
                               double, BlockView<T, HostSpace>);                            \
  template void reference_spmm(double, CsrView<T, HostSpace>, ConstBlockView<T, HostSpace>, \
                               const SpmmEpilogue<T, HostSpace>&, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
