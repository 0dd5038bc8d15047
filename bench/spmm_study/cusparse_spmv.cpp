#include "spmm_study/cusparse_spmv.hpp"

#include <array>

#include "spmm_comparison/cusparse_handles.hpp"

namespace heddle::bench {
namespace {

constexpr std::array kAlgorithms = {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};

using Vector = CusparseOwner<cusparseDnVecDescr>;

template <class T>
Vector describe(Index size, T* data) {
  cusparseDnVecDescr_t descriptor = nullptr;
  check(cusparseCreateDnVec(&descriptor, size, data, kDataType<T>));
  return Vector(descriptor);
}

}  // namespace

template <class T>
struct CusparseSpmv<T>::State {
  cusparseSpMVAlg_t algorithm;
  CusparseMatrix<T> matrix;
  Vector x;
  Vector y;
  T alpha = 1;
  T beta = 0;
  Buffer<char, DeviceSpace> workspace = {};
};

template <class T>
CusparseSpmv<T>::CusparseSpmv(CudaContext& context, const CsrView<T, DeviceSpace>& A, int algorithm,
                              const T* x, T* y)
    // The descriptor takes a pointer to what cuSPARSE only reads as one to what it may write.
    : state_(new State{kAlgorithms.at(static_cast<std::size_t>(algorithm - 1)),
                       CusparseMatrix<T>(context, A), describe(A.cols, const_cast<T*>(x)),
                       describe(A.rows, y)}) {
  State& state = *state_;
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(state.matrix.handle(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                &state.alpha, state.matrix.get(), state.x.get(), &state.beta,
                                state.y.get(), kDataType<T>, state.algorithm, &bytes));
  state.workspace = Buffer<char, DeviceSpace>(context, bytes);
  check(cusparseSpMV_preprocess(state.matrix.handle(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                &state.alpha, state.matrix.get(), state.x.get(), &state.beta,
                                state.y.get(), kDataType<T>, state.algorithm,
                                state.workspace.data()));
}

template <class T>
CusparseSpmv<T>::~CusparseSpmv() = default;

template <class T>
void CusparseSpmv<T>::multiply() const {
  check(cusparseSpMV(state_->matrix.handle(), CUSPARSE_OPERATION_NON_TRANSPOSE, &state_->alpha,
                     state_->matrix.get(), state_->x.get(), &state_->beta, state_->y.get(),
                     kDataType<T>, state_->algorithm, state_->workspace.data()));
}

template class CusparseSpmv<float>;
template class CusparseSpmv<double>;

}  // namespace heddle::bench
