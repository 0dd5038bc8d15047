#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/accurate_rows.hpp>

namespace heddle {
namespace {

constexpr Index kColumns = 8;  // of X that a pass over a row takes

}  // namespace

template <Scalar T>
void accurate_residual(HostContext& context, DistributedCsrView<T, HostSpace> A,
                       const DistributedCsrView<T, HostSpace>* B, ConstBlockView<T, HostSpace> X,
                       std::span<const double> theta, BlockView<T, HostSpace> R) {
  detail::check_accurate_residual<T, HostSpace>(A, B, X, theta, R);
  const detail::RowsWithHalo<T, HostContext> of_A(context, &A, X), of_B(context, B, X);
  const detail::AccurateResidual<T, HostSpace> residual{of_A.rows(), of_B.rows()};
  parallel_for(context.threads(), X.rows(), [&](Index row) {
    for (Index first = 0; first < X.cols(); first += kColumns) {
      residual.template row<kColumns>(row, first, std::min(kColumns, X.cols() - first),
                                      theta.data() + first, &R(row, first));
    }
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                  \
  template void accurate_residual(                                                             \
      HostContext&, DistributedCsrView<T, HostSpace>, const DistributedCsrView<T, HostSpace>*, \
      ConstBlockView<T, HostSpace>, std::span<const double>, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
