#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/triangular.hpp>
#include <heddle/spmm/triangular/level_order.hpp>
#include <heddle/spmm/triangular/triangular_kernels.hpp>
#include <utility>

namespace heddle {
template <Scalar T>
struct TriangularPlan<T, CudaContext>::State {
  CsrMatrix<T, DeviceSpace> entries;
  Buffer<std::int32_t, DeviceSpace> rows;
  Buffer<T, DeviceSpace> inverse_diagonal;
  std::vector<Index> level_begins;
  TriangularSchedule schedule;
  detail::cuda::RowFlags flags;

  State(CudaContext& context, detail::LevelOrder<T> order, TriangularSchedule asked)
      : entries(place(context, std::move(order.entries))),
        rows(place(context, std::move(order.rows))),
        inverse_diagonal(place(context, std::move(order.inverse_diagonal))),
        level_begins(std::move(order.level_begins)),
        schedule(asked),
        flags(context, entries.rows()) {}

  Index levels() const { return static_cast<Index>(level_begins.size()) - 1; }

  /// Whether a level is worth a launch: the levels fill the device twice over in the mean.
  bool launches(const DeviceSizes& device,
                const detail::cuda::Substitution<T>& substitution) const {
    if (schedule != TriangularSchedule::automatic) return schedule == TriangularSchedule::launches;
    return entries.rows() * detail::cuda::threads_of_row(substitution) >=
           levels() * 2 * device.resident_threads();
  }
};

template <Scalar T>
TriangularPlan<T, CudaContext>::TriangularPlan(CudaContext& context, CsrView<T, HostSpace> A,
                                               Triangle triangle, TriangularSchedule schedule) {
  HostContext host;
  state_ = std::make_unique<State>(context, detail::order_by_levels(host, A, triangle), schedule);
}

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
  const CsrMatrix<T, DeviceSpace>& N = state_->entries;
  detail::check_triangular_shapes(N.rows(), {X.rows(), X.cols()}, {Y.rows(), Y.cols()});
  if (Y.empty()) return;
  const detail::cuda::Substitution<T> substitution{N.view(),
                                                   state_->rows.data(),
                                                   state_->inverse_diagonal.data(),
                                                   X.data(),
                                                   X.ld(),
                                                   Y.data(),
                                                   Y.ld(),
                                                   Y.cols()};
  if (state_->launches(context.device(), substitution)) {
    detail::cuda::launch_by_levels(context, substitution, state_->level_begins);
  } else {
    detail::cuda::launch_by_flags(context, substitution, state_->flags);
  }
  context.profile().count(detail::substitution_bytes<T>(N.nnz(), N.rows(), Y.cols()),
                          detail::substitution_flops(N.nnz(), N.rows(), Y.cols()));
}

template <Scalar T>
Index TriangularPlan<T, CudaContext>::levels() const noexcept {
  return state_->levels();
}

#define HEDDLE_INSTANTIATE(T) template class TriangularPlan<T, CudaContext>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
