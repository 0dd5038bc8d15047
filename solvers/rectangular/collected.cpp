#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/solvers/rectangular/collected.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
void collect_matrix(Ctx& context, HostContext& host, LinearOperator<T, Ctx>& A,
                    SmallView<Wide<T>, HostSpace> M) {
  using Space = typename Ctx::Space;
  const RowRange own = A.column_range();
  const Index panel = std::min(kPanelColumns, own.global);
  MultiVector<T, Space> X(context, own.local, panel), AX(context, A.rows(), panel);
  MultiVector<T, HostSpace> columns(host, own.local, panel);
  for (Index first = 0; first < own.global; first += panel) {
    const Index count = std::min(panel, own.global - first);
    set_zero<T>(host, columns.view());
    for (Index j = 0; j < count; ++j) {
      const Index row = first + j - own.first;
      if (row >= 0 && row < own.local) columns.view()(row, j) = 1;
    }
    send<T>(context, columns.columns(0, count), X.columns(0, count));
    A.apply(context, X.columns(0, count), AX.columns(0, count));
    collect_rows<T>(context, host, AX.columns(0, count),
                    M.rows > 0 ? M.block(0, first, M.rows, count) : M);
  }
}

template <Scalar T, class Ctx>
void collect_rows(Ctx& context, HostContext& host, ConstBlockView<T, typename Ctx::Space> X,
                  SmallView<Wide<T>, HostSpace> M) {
  MultiVector<T, HostSpace> own(host, X.rows(), X.cols());
  fetch<T>(context, X, own.view());
  MultiVector<T, HostSpace> all;
  if (context.processes() != nullptr) all = gather(*context.processes(), own, host);
  const auto rows = context.processes() != nullptr ? all.view() : own.view();
  for (Index i = 0; i < std::min(M.rows, rows.rows()); ++i) {
    for (Index j = 0; j < X.cols(); ++j) M(i, j) = static_cast<Wide<T>>(rows(i, j));
  }
}

template <Scalar T, class Ctx>
void send_rounded(Ctx& context, HostContext& host, ConstSmallView<Wide<T>, HostSpace> M,
                  BlockView<T, typename Ctx::Space> X) {
  MultiVector<T, HostSpace> rounded(host, M.rows, X.cols());
  for (Index j = 0; j < X.cols(); ++j) {
    for (Index i = 0; i < M.rows; ++i) rounded.view()(i, j) = static_cast<T>(M(i, j));
  }
  if (Processes* const processes = context.processes()) {
    const RowRanges rows = ranges_of_all(*processes, X.rows());
    rounded = scatter<T>(*processes, host, rounded.view(), rows);
  }
  send<T>(context, rounded.view(), X);
  context.synchronize();  // the copy reads `rounded` until then
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                               \
  template void collect_matrix(Ctx&, HostContext&, LinearOperator<T, Ctx>&,                      \
                               SmallView<Wide<T>, HostSpace>);                                   \
  template void collect_rows<T, Ctx>(Ctx&, HostContext&, ConstBlockView<T, typename Ctx::Space>, \
                                     SmallView<Wide<T>, HostSpace>);                             \
  template void send_rounded<T, Ctx>(Ctx&, HostContext&, ConstSmallView<Wide<T>, HostSpace>,     \
                                     BlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
