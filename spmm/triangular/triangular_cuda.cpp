#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/triangular.hpp>
#include <heddle/spmm/triangular/level_order.hpp>
#include <heddle/spmm/triangular/triangular_kernels.hpp>
#include <utility>

namespace heddle {
template <Scalar T>
struct TriangularPlan<T, CudaContext>::State {
  detail::LevelOrder<T, DeviceSpace> order;
  TriangularSchedule schedule;
  detail::cuda::RowFlags flags;

  State(CudaContext& context, detail::LevelOrder<T, DeviceSpace> ordered, TriangularSchedule asked)
      : order(std::move(ordered)), schedule(asked), flags(context, order.entries.rows()) {}

  /// Whether a level is worth a launch: the levels fill the device twice over in the mean.
  bool launches(const DeviceSizes& device,
                const detail::cuda::Substitution<T>& substitution) const {
    if (schedule != TriangularSchedule::automatic) return schedule == TriangularSchedule::launches;
    return order.entries.rows() * detail::cuda::threads_of_row(substitution) >=
           order.levels() * 2 * device.resident_threads();
  }
};

template <Scalar T>
TriangularPlan<T, CudaContext>::TriangularPlan(CudaContext& context, CsrView<T, HostSpace> A,
                                               Triangle triangle, TriangularSchedule schedule)
    : state_(std::make_unique<State>(context, detail::order_by_levels(context, A, triangle),
                                     schedule)) {}

template <Scalar T>
TriangularPlan<T, CudaContext>::TriangularPlan(CudaContext& context, CsrView<T, DeviceSpace> A,
                                               Triangle triangle, TriangularSchedule schedule)
    : state_(std::make_unique<State>(context, detail::order_by_levels(context, A, triangle),
                                     schedule)) {}

template <Scalar T>
TriangularPlan<T, CudaContext>::~TriangularPlan() = default;
template <Scalar T>
TriangularPlan<T, CudaContext>::TriangularPlan(TriangularPlan&&) noexcept = default;
template <Scalar T>
TriangularPlan<T, CudaContext>& TriangularPlan<T, CudaContext>::operator=(
    TriangularPlan&&) noexcept = default;

template <Scalar T>
void TriangularPlan<T, CudaContext>::solve(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                                           BlockView<T, DeviceSpace> Y) const {
  const CsrMatrix<T, DeviceSpace>& N = state_->order.entries;
  detail::check_triangular_shapes(N.rows(), {X.rows(), X.cols()}, {Y.rows(), Y.cols()});
  if (Y.empty()) return;
  const detail::cuda::Substitution<T> substitution{N.view(),
                                                   state_->order.rows.data(),
                                                   state_->order.inverse_diagonal.data(),
                                                   X.data(),
                                                   X.ld(),
                                                   Y.data(),
                                                   Y.ld(),
                                                   Y.cols()};
  if (state_->launches(context.device(), substitution)) {
    detail::cuda::launch_by_levels(context, substitution, state_->order.level_begins);
  } else {
    detail::cuda::launch_by_flags(context, substitution, state_->flags);
  }
  context.profile().count(detail::substitution_bytes<T>(N.nnz(), N.rows(), Y.cols()),
                          detail::substitution_flops(N.nnz(), N.rows(), Y.cols()));
}

template <Scalar T>
Index TriangularPlan<T, CudaContext>::levels() const noexcept {
  return state_->order.levels();
}

#define HEDDLE_INSTANTIATE(T) template class TriangularPlan<T, CudaContext>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
