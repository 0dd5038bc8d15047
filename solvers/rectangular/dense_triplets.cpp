#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/rectangular/collected.hpp>
#include <heddle/solvers/rectangular/dense_triplets.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
std::optional<std::vector<double>> dense_triplets(Ctx& context, HostContext& host,
                                                  LinearOperator<T, Ctx>& A, Which which,
                                                  BlockView<T, typename Ctx::Space> U,
                                                  BlockView<T, typename Ctx::Space> V) {
  Processes* const processes = context.processes();
  const bool here = collects(context);
  const Index m = here ? A.row_range().global : 0;
  const Index n = here ? A.column_range().global : 0;
  SmallMatrix<Wide<T>, HostSpace> dense(host, m, n), left(host, m, n), right(host, n, n);
  std::vector<double> values(static_cast<std::size_t>(A.column_range().global));
  collect_matrix(context, host, A, dense.view(m, n));
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
