#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/column_major.hpp>

namespace heddle {

template <Scalar T, Scalar From>
void transpose_block(HostContext& context, ConstBlockView<From, HostSpace> source, T beta,
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
                     const auto value = static_cast<T>(source(j, i));
                     entry = beta == T{0} ? value : value + beta * entry;
                   }
                 }
               });
}

#define HEDDLE_INSTANTIATE_FROM(T, From)                                          \
  template void transpose_block(HostContext&, ConstBlockView<From, HostSpace>, T, \
                                BlockView<T, HostSpace>);
#define HEDDLE_INSTANTIATE(T)       \
  HEDDLE_INSTANTIATE_FROM(T, float) \
  HEDDLE_INSTANTIATE_FROM(T, double)
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FROM

}  // namespace heddle
