#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/factor/cudss_inverse.hpp>
#include <heddle/solvers/factor/lower_triangles.hpp>
#include <heddle/solvers/factor/sparse_cholesky.hpp>

namespace heddle::detail {

template <Scalar T>
CudssInverse<T>::CudssInverse(CudaContext&, Matrix A, Matrix B, double max_bytes,
                              bool deterministic)
    : cudss_(cudss()), A_(A), B_(B), max_bytes_(max_bytes), deterministic_(deterministic) {}

template <Scalar T>
CudssInverse<T>::~CudssInverse() = default;

/// Estimates for a large GPU, in which a unit takes 5 ps: 2·10¹² operations per second, 10 ps per
/// entry of L and column, and 5 µs per row for the nested dissection on one core.
template <Scalar T>
FactorRates CudssInverse<T>::rates() const noexcept {
  return {0.1, 2, 5e-12};
}

template <Scalar T>
double CudssInverse<T>::order_cost(double rows, const FactorCost&) const noexcept {
  return 1e6 * rows;
}

template <Scalar T>
void CudssInverse<T>::order(CudaContext& context) {
  HostContext host{1};
  const LowerTriangles lower = lower_triangles(host, on_host<T>(host, context, A_).view(),
                                               on_host<T>(host, context, B_).view());
  const CsrView<double, HostSpace> A = lower.A.view();
  for (Index i = 0; i < A.rows; ++i) {
    const std::int64_t at = A.row_offsets[i + 1] - 1;
    A_diagonal_.push_back(A.values[at]);
    B_diagonal_.push_back(lower.B.data()[at]);
  }
  shifted_ = place<double>(context, A);
  const auto entries = static_cast<std::size_t>(A.nnz);
  A_values_ = {context, entries};
  B_values_ = {context, entries};
  context.copy_to_device(A_values_.data(), A.values, entries * sizeof(double));
  context.copy_to_device(B_values_.data(), lower.B.data(), entries * sizeof(double));
  solver_ = std::make_unique<CudssSolver>(context, shifted_, CudssSolver::Kind::positive_definite,
                                          deterministic_);
  solver_->order();
}

template <Scalar T>
void CudssInverse<T>::analyse(CudaContext&) {
  solver_->analyse();
  if (solver_->device_bytes() <= max_bytes_) cost_ = solver_->cost();
}

template <Scalar T>
bool CudssInverse<T>::factor(CudaContext& context, double sigma) {
  factored_ = false;
  const auto column = [&](double* values) {
    return BlockView<double, DeviceSpace>(values, shifted_.nnz(), 1, 1);
  };
  copy<double>(context, column(A_values_.data()), column(shifted_.values()));
  axpby<double>(context, -sigma, column(B_values_.data()), 1, column(shifted_.values()));
  factored_ = solver_->factor() && pivots_are_large(sigma);
  return factored_;
}

template <Scalar T>
bool CudssInverse<T>::pivots_are_large(double sigma) const {
  const std::vector<double> roots = solver_->diagonal();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const double diagonal = A_diagonal_[i] - sigma * B_diagonal_[i];
    if (!(roots[i] * roots[i] > kSmallestPivot * diagonal)) return false;
  }
  return true;
}

template <Scalar T>
void CudssInverse<T>::solve(CudaContext& context, ConstBlock X, Block Y) {
  solver_->solve<T>(context, kCudssSolve, X, Y);
}

template <Scalar T>
void CudssInverse<T>::solve_lower(CudaContext& context, ConstBlock X, Block Y) {
  solver_->solve<T>(context, kCudssForward, X, Y);
}

template <Scalar T>
void CudssInverse<T>::solve_upper(CudaContext& context, ConstBlock X, Block Y) {
  solver_->solve<T>(context, kCudssBackward, X, Y);
}

#define HEDDLE_INSTANTIATE(T) template class CudssInverse<T>;
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
