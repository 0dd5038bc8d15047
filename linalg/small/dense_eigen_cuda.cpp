#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen_state.hpp>

namespace heddle {
namespace {

/// cuSOLVER's divide and conquer. Its results are deterministic unless a user of the handle changes
/// that (`cusolverDnSetDeterministicMode`).
class CusolverEigensolver final : public detail::DeviceEigensolver {
 public:
  CusolverEigensolver(CudaContext& context, Index max_order)
      : context_(context), matrix_(context, max_order, max_order), theta_(context, max_order, 1) {
    const int order = static_cast<int>(max_order);
    check(detail::cuda_libraries().cusolverDnDsyevd_bufferSize(
        context.cusolver(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, order,
        matrix_.view(max_order, max_order).data, order, theta_.view(max_order, 1).data,
        &work_size_));
    work_ = Buffer<double, DeviceSpace>(context, static_cast<std::size_t>(work_size_));
    info_ = Buffer<int, DeviceSpace>(context, 1);
  }

  bool compute(ConstSmallView<double, HostSpace> H, SmallView<double, HostSpace> theta,
               SmallView<double, HostSpace> Z) override {
    const Index m = H.rows;
    const int order = static_cast<int>(m);
    const SmallView<double, DeviceSpace> matrix = matrix_.view(m, m);
    const SmallView<double, DeviceSpace> values = theta_.view(m, 1);
    send(context_, H, matrix);
    check(detail::cuda_libraries().cusolverDnDsyevd(
        context_.cusolver(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, order, matrix.data,
        static_cast<int>(matrix.ld), values.data, work_.data(), work_size_, info_.data()));
    fetch(context_, matrix, Z);
    fetch(context_, values, theta);
    int info = 0;
    context_.copy_to_host(&info, info_.data(), sizeof info);
    return info == 0;
  }

 private:
  CudaContext& context_;
  SmallMatrix<double, DeviceSpace> matrix_;  // H, then Z
  SmallMatrix<double, DeviceSpace> theta_;
  Buffer<double, DeviceSpace> work_;
  Buffer<int, DeviceSpace> info_;
  int work_size_ = 0;
};

}  // namespace

template <WideScalar W>
DenseSolverOf<W>::DenseSolverOf(CudaContext& context, Index max_order) : DenseSolverOf(max_order) {
  if (max_order < detail::DeviceEigensolver::kLeastOrder) return;
  state_->device = std::make_unique<CusolverEigensolver>(context, max_order);
}

template DenseSolverOf<double>::DenseSolverOf(CudaContext& context, Index max_order);

}  // namespace heddle
