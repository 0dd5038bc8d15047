#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen_state.hpp>

namespace heddle {
namespace {

constexpr auto kVectors = CUSOLVER_EIG_MODE_VECTOR;
constexpr auto kTriangle = CUBLAS_FILL_MODE_LOWER;

/// The functions of cuSOLVER for the numbers W, which it calls `Number`.
template <WideScalar W>
struct DivideAndConquer;

template <>
struct DivideAndConquer<double> {
  using Number = double;
  static auto buffer_size() { return detail::cuda_libraries().cusolverDnDsyevd_bufferSize; }
  static auto solve() { return detail::cuda_libraries().cusolverDnDsyevd; }
};

template <>
struct DivideAndConquer<std::complex<double>> {
  using Number = cuDoubleComplex;
  static auto buffer_size() { return detail::cuda_libraries().cusolverDnZheevd_bufferSize; }
  static auto solve() { return detail::cuda_libraries().cusolverDnZheevd; }
};

/// cuSOLVER's divide and conquer. Its results are deterministic unless a user of the handle changes
/// that (`cusolverDnSetDeterministicMode`).
template <WideScalar W>
class CusolverEigensolver final : public detail::DeviceEigensolver<W> {
  using Functions = DivideAndConquer<W>;
  using Number = typename Functions::Number;

 public:
  CusolverEigensolver(CudaContext& context, Index max_order)
      : context_(context), matrix_(context, max_order, max_order), theta_(context, max_order, 1) {
    const int order = static_cast<int>(max_order);
    check(Functions::buffer_size()(context.cusolver(), kVectors, kTriangle, order,
                                   numbers(matrix_.view(max_order, max_order)), order,
                                   theta_.view(max_order, 1).data, &work_size_));
    work_ = Buffer<W, DeviceSpace>(context, static_cast<std::size_t>(work_size_));
    info_ = Buffer<int, DeviceSpace>(context, 1);
  }

  bool compute(ConstSmallView<W, HostSpace> H, SmallView<double, HostSpace> theta,
               SmallView<W, HostSpace> Z) override {
    const Index m = H.rows;
    const SmallView<W, DeviceSpace> matrix = matrix_.view(m, m);
    const SmallView<double, DeviceSpace> values = theta_.view(m, 1);
    send(context_, H, matrix);
    check(Functions::solve()(context_.cusolver(), kVectors, kTriangle, static_cast<int>(m),
                             numbers(matrix), static_cast<int>(matrix.ld), values.data,
                             reinterpret_cast<Number*>(work_.data()), work_size_, info_.data()));
    fetch(context_, matrix, Z);
    fetch(context_, values, theta);
    int info = 0;
    context_.copy_to_host(&info, info_.data(), sizeof info);
    return info == 0;
  }

 private:
  static Number* numbers(const SmallView<W, DeviceSpace>& matrix) {
    return reinterpret_cast<Number*>(matrix.data);
  }

  CudaContext& context_;
  SmallMatrix<W, DeviceSpace> matrix_;  // H, then Z
  SmallMatrix<double, DeviceSpace> theta_;
  Buffer<W, DeviceSpace> work_;
  Buffer<int, DeviceSpace> info_;
  int work_size_ = 0;
};

}  // namespace

template <WideScalar W>
DenseSolverOf<W>::DenseSolverOf(CudaContext& context, Index max_order) : DenseSolverOf(max_order) {
  if (max_order < detail::DeviceEigensolver<W>::kLeastOrder) return;
  state_->device = std::make_unique<CusolverEigensolver<W>>(context, max_order);
}

template DenseSolverOf<double>::DenseSolverOf(CudaContext& context, Index max_order);
template DenseSolverOf<std::complex<double>>::DenseSolverOf(CudaContext& context, Index max_order);

}  // namespace heddle
