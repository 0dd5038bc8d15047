#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/rectangular/dense_triplets.hpp>
#include <utility>

namespace heddle::detail {
namespace {

bool leads(const Processes* processes) { return processes == nullptr || processes->leads(); }

/// M ← A on process 0, by products with panels of the identity. M is 0×0 on the others.
template <Scalar T, class Ctx>
void multiply_identity(Ctx& context, HostContext& host, LinearOperator<T, Ctx>& A,
                       SmallView<double, HostSpace> M) {
  using Space = typename Ctx::Space;
  const RowRange own = A.column_range();
  const Index panel = std::min(kPanelColumns, own.global);
  MultiVector<T, Space> X(context, own.local, panel), AX(context, A.rows(), panel);
  MultiVector<T, HostSpace> columns(host, own.local, panel), product(host, A.rows(), panel);
  for (Index first = 0; first < own.global; first += panel) {
    const Index count = std::min(panel, own.global - first);
    set_zero(host, columns.view());
    for (Index j = 0; j < count; ++j) {
      const Index row = first + j - own.first;
      if (row >= 0 && row < own.local) columns.view()(row, j) = 1;
    }
    send<T>(context, columns.columns(0, count), X.columns(0, count));
    A.apply(context, X.columns(0, count), AX.columns(0, count));
    fetch<T>(context, AX.columns(0, count), product.columns(0, count));
    MultiVector<T, HostSpace> collected;
    if (context.processes() != nullptr) collected = gather(*context.processes(), product, host);
    const auto rows = context.processes() != nullptr ? collected.view() : product.view();
    for (Index i = 0; i < M.rows; ++i) {
      for (Index j = 0; j < count; ++j) M(i, first + j) = static_cast<double>(rows(i, j));
    }
  }
}

/// X ← the rows of this process of the first columns of M, which process 0 holds, rounded to T.
template <Scalar T, class Ctx>
void send_rounded(Ctx& context, HostContext& host, ConstSmallView<double, HostSpace> M,
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

}  // namespace

void reverse_columns(SmallView<double, HostSpace> M) {
  for (Index j = 0; j < M.cols / 2; ++j) {
    std::swap_ranges(&M(0, j), &M(0, j) + M.rows, &M(0, M.cols - 1 - j));
  }
}

template <Scalar T, class Ctx>
std::optional<std::vector<double>> dense_triplets(Ctx& context, HostContext& host,
                                                  LinearOperator<T, Ctx>& A, Which which,
                                                  BlockView<T, typename Ctx::Space> U,
                                                  BlockView<T, typename Ctx::Space> V) {
  Processes* const processes = context.processes();
  const bool here = leads(processes);
  const Index m = here ? A.row_range().global : 0;
  const Index n = here ? A.column_range().global : 0;
  SmallMatrix<double, HostSpace> dense(host, m, n), left(host, m, n), right(host, n, n);
  std::vector<double> values(static_cast<std::size_t>(A.column_range().global));
  multiply_identity(context, host, A, dense.view(m, n));
  const SmallView<double, HostSpace> sigma{values.data(), n, 1, n};
  const bool failed = here && !singular_value_decomposition(dense.view(m, n), left.view(m, n),
                                                            sigma, right.view(n, n));
  if (context.agree(failed)) return std::nullopt;
  if (which == Which::smallest) {
    std::reverse(values.begin(), values.end());
    reverse_columns(left.view(m, n));
    reverse_columns(right.view(n, n));
  }
  if (processes != nullptr) processes->broadcast(values.data(), values.size() * sizeof(double));
  send_rounded<T>(context, host, left.view(m, n), U);
  send_rounded<T>(context, host, right.view(n, n), V);
  return values;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                           \
  template std::optional<std::vector<double>> dense_triplets(                                \
      Ctx&, HostContext&, LinearOperator<T, Ctx>&, Which, BlockView<T, typename Ctx::Space>, \
      BlockView<T, typename Ctx::Space>);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
