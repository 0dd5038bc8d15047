#include "spmm/cusparse_spmm.hpp"

#include <array>

#include "spmm/cusparse_matrix.hpp"

namespace heddle::lab {
namespace {

constexpr std::array kAlgorithms = {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2,
                                    CUSPARSE_SPMM_CSR_ALG3};

using Block = std::unique_ptr<cusparseDnMatDescr, DestroyCusparse>;

template <class T>
Block describe(const CusparseBlock<T>& block, CusparseLayout layout) {
  using Value = std::remove_const_t<T>;
  cusparseDnMatDescr_t descriptor = nullptr;
  check(cusparseCreateDnMat(
      &descriptor, block.rows, block.cols, block.ld, const_cast<Value*>(block.data),
      kDataType<Value>,
      layout == CusparseLayout::by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
  return Block(descriptor);
}

}  // namespace

template <class T>
struct CusparseSpmm<T>::State {
  cusparseSpMMAlg_t algorithm;
  CusparseMatrix<T> A;
  Block B;
  Block C;
  T alpha = 1;
  T beta = 0;
  Buffer<char, DeviceSpace> workspace = {};
};

template <class T>
CusparseSpmm<T>::CusparseSpmm(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm,
                              CusparseLayout layout, CusparseBlock<const T> B, CusparseBlock<T> C)
    : state_(std::make_unique<State>(State{kAlgorithms.at(static_cast<std::size_t>(algorithm - 1)),
                                           CusparseMatrix<T>(context, A), describe(B, layout),
                                           describe(C, layout)})) {
  State& state = *state_;
  std::size_t bytes = 0;
  check(cusparseSpMM_bufferSize(state.A.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &state.alpha,
                                state.A.matrix.get(), state.B.get(), &state.beta, state.C.get(),
                                kDataType<T>, state.algorithm, &bytes));
  state.workspace = Buffer<char, DeviceSpace>(context, bytes);
  check(cusparseSpMM_preprocess(state.A.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                CUSPARSE_OPERATION_NON_TRANSPOSE, &state.alpha,
                                state.A.matrix.get(), state.B.get(), &state.beta, state.C.get(),
                                kDataType<T>, state.algorithm, state.workspace.data()));
}

template <class T>
CusparseSpmm<T>::~CusparseSpmm() = default;

template <class T>
void CusparseSpmm<T>::multiply() const {
  const State& state = *state_;
  check(cusparseSpMM(state.A.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                     CUSPARSE_OPERATION_NON_TRANSPOSE, &state.alpha, state.A.matrix.get(),
                     state.B.get(), &state.beta, state.C.get(), kDataType<T>, state.algorithm,
                     state_->workspace.data()));
}

template class CusparseSpmm<float>;
template class CusparseSpmm<double>;
template class CusparseSpmm<std::complex<double>>;

}  // namespace heddle::lab
