#pragma once

#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/drivers/problem/resident_problem.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/csr_survey.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <memory>
#include <utility>

/// Matrices and blocks in the memory of the context that solves a problem.
namespace heddle::detail {

/// An operator that applies a callable given by the caller.
template <Scalar T, class Ctx>
class CallableOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Apply = typename ResidentMatrix<T, Ctx>::Apply;

  CallableOperator(Index rows, Index cols, Apply apply)
      : LinearOperator<T, Ctx>(rows, cols), apply_(std::move(apply)) {}

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    const PhaseScope phase(context, Phase::spmm);
    apply_(context, X, Y);
  }

 private:
  Apply apply_;
};

/// A matrix as an operator in the memory of a context.
template <Scalar T, class Ctx>
struct PlacedMatrix {
  std::unique_ptr<LinearOperator<T, Ctx>> product;  ///< null if there is no such matrix
  SparseOperator<T, Ctx>* stored = nullptr;  ///< `product` if the matrix is stored, else null
  HostMatrix<T> source{};                    ///< keeps the host data alive that `product` refers to

  explicit operator bool() const noexcept { return product != nullptr; }
  DistributedCsrView<T, typename Ctx::Space> matrix() const { return stored->distributed_matrix(); }
};

/// Wraps A as an operator on the host, without a copy.
template <Scalar T>
PlacedMatrix<T, HostContext> place_matrix(HostContext& context, HostMatrix<T> A,
                                          const SpmmOptions& spmm) {
  if (!A.is_stored()) {
    auto apply = [apply = A.apply()](HostContext&, auto X, auto Y) { apply(X, Y); };
    return {
        std::make_unique<CallableOperator<T, HostContext>>(A.rows(), A.cols(), std::move(apply)),
        nullptr,
        {}};
  }
  auto product =
      std::make_unique<SparseOperator<T, HostContext>>(context, A.distributed_view(), spmm);
  SparseOperator<T, HostContext>* const stored = product.get();
  return {std::move(product), stored, std::move(A)};
}

/// Wraps A, which lies in the memory of the context, as an operator, without a copy.
template <Scalar T, class Ctx>
PlacedMatrix<T, Ctx> place_matrix(Ctx& context, ResidentMatrix<T, Ctx> A, const SpmmOptions& spmm) {
  if (!A.is_stored()) {
    return {std::make_unique<CallableOperator<T, Ctx>>(A.rows(), A.cols(), A.apply()), nullptr, {}};
  }
  auto product = std::make_unique<SparseOperator<T, Ctx>>(context, A.view(), spmm);
  SparseOperator<T, Ctx>* const stored = product.get();
  return {std::move(product), stored, {}};
}

/// Returns X itself, because it already lies in host memory.
template <Scalar T>
HostBlock<T> place_block(HostContext&, HostBlock<T> X) {
  return X;
}
template <Scalar T>
HostBlock<T> place_block(HostContext&, ConstBlockView<T, HostSpace> X) {
  return HostBlock<T>(X);
}

#ifdef HEDDLE_HAS_CUDA
/// Copies A to the memory of the GPU. The host's A is released unless it belongs to the caller.
template <Scalar T>
PlacedMatrix<T, CudaContext> place_matrix(CudaContext& context, HostMatrix<T> A,
                                          const SpmmOptions& spmm) {
  if (!A.is_stored()) throw InvalidArgument("a callable on host blocks is not for a GPU");
  DistributedCsr<T, DeviceSpace> copy = place(context, A.distributed_view());
  A = {};
  auto product = std::make_unique<SparseOperator<T, CudaContext>>(context, std::move(copy), spmm);
  SparseOperator<T, CudaContext>* const stored = product.get();
  return {std::move(product), stored, {}};
}

/// Copies X to the memory of the GPU.
template <Scalar T>
MultiVector<T, DeviceSpace> place_block(CudaContext& context, HostBlock<T> X) {
  MultiVector<T, DeviceSpace> copy(context, X.rows(), X.cols());
  send<T>(context, X.view(), copy.view());
  context.synchronize();
  return copy;
}

/// A copy of X, with rows that are aligned as kernels like them.
template <Scalar T>
MultiVector<T, DeviceSpace> place_block(CudaContext& context, ConstBlockView<T, DeviceSpace> X) {
  MultiVector<T, DeviceSpace> placed(context, X.rows(), X.cols());
  if (X.rows() > 0 && X.cols() > 0) copy(context, X, placed.view());
  return placed;
}
#endif

/// diag(A Aᴴ) in the memory of `context`, for a stored A.
template <Scalar T, class Ctx>
auto row_norms(Ctx& context, HostContext& host, const HostMatrix<T>& A) {
  return place(context, squared_row_norms(host, A.distributed_view()));
}
template <Scalar T, class Ctx>
auto row_norms(Ctx& context, HostContext&, const ResidentMatrix<T, Ctx>& A) {
  return squared_row_norms(context, A.view());
}

/// Whether every off-diagonal entry of a stored A is 0, of a distributed A in all processes.
template <Scalar T, class Ctx>
bool is_diagonal_matrix(Ctx& context, const HostMatrix<T>& A) {
  return !context.agree(!is_diagonal(A.distributed_view()));
}
template <Scalar T, class Ctx>
bool is_diagonal_matrix(Ctx& context, const ResidentMatrix<T, Ctx>& A) {
  return survey(context, A.view()).diagonal;
}

}  // namespace heddle::detail
