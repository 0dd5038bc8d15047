#include "spmm/cusparse_spmv.hpp"

#include <array>

#include "spmm/cusparse_matrix.hpp"

namespace heddle::lab {
namespace {

constexpr std::array kAlgorithms = {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};

using Vector = std::unique_ptr<cusparseDnVecDescr, DestroyCusparse>;

template <class T>
Vector describe(const T* values, Index size) {
  cusparseDnVecDescr_t descriptor = nullptr;
  check(cusparseCreateDnVec(&descriptor, size, const_cast<T*>(values), kDataType<T>));
  return Vector(descriptor);
}

}  // namespace

template <class T>
struct CusparseSpmv<T>::State {
  cusparseSpMVAlg_t algorithm;
  CusparseMatrix<T> A;
  Vector x;
  Vector y;
  T alpha = 1;
  T beta = 0;
  Buffer<char, DeviceSpace> workspace = {};
};

template <class T>
CusparseSpmv<T>::CusparseSpmv(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm,
                              const T* x, T* y)
    : state_(std::make_unique<State>(State{kAlgorithms.at(static_cast<std::size_t>(algorithm - 1)),
                                           CusparseMatrix<T>(context, A), describe(x, A.cols),
                                           describe(y, A.rows)})) {
  State& state = *state_;
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(state.A.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                &state.alpha, state.A.matrix.get(), state.x.get(), &state.beta,
                                state.y.get(), kDataType<T>, state.algorithm, &bytes));
  state.workspace = Buffer<char, DeviceSpace>(context, bytes);
  check(cusparseSpMV_preprocess(state.A.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                &state.alpha, state.A.matrix.get(), state.x.get(), &state.beta,
                                state.y.get(), kDataType<T>, state.algorithm,
                                state.workspace.data()));
}

template <class T>
CusparseSpmv<T>::~CusparseSpmv() = default;

template <class T>
void CusparseSpmv<T>::multiply() const {
  const State& state = *state_;
  check(cusparseSpMV(state.A.handle.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &state.alpha,
                     state.A.matrix.get(), state.x.get(), &state.beta, state.y.get(), kDataType<T>,
                     state.algorithm, state_->workspace.data()));
}

template class CusparseSpmv<float>;
template class CusparseSpmv<double>;

}  // namespace heddle::lab
