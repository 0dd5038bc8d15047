#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/plan/transpose_block.hpp>

namespace heddle::detail {

template <Scalar T>
void transpose_block(HostContext& context, ConstBlockView<T, HostSpace> source, T beta,
                     BlockView<T, HostSpace> target) {
  // Squares whose rows are a few cache lines in source and target.
  constexpr Index kSquare = 32;
  const Slabs rows{target.rows(), kSquare};
  const Slabs columns{target.cols(), kSquare};
  const double bytes = 2.0 * static_cast<double>(target.rows() * target.cols()) * sizeof(T);
  parallel_for(team_size(context.threads(), bytes, 0), rows.count() * columns.count(),
               [&](Index square) {
                 const Index row = square % rows.count();
                 const Index column = square / rows.count();
                 for (Index i = rows.begin(row); i < rows.end(row); ++i) {
                   for (Index j = columns.begin(column); j < columns.end(column); ++j) {
                     T& entry = target(i, j);
                     entry = beta == T{0} ? source(j, i) : source(j, i) + beta * entry;
                   }
                 }
               });
}

#define HEDDLE_INSTANTIATE(T)                                                  \
  template void transpose_block(HostContext&, ConstBlockView<T, HostSpace>, T, \
                                BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
