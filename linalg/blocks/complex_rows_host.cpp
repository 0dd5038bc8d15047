#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/row_loops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {

template <ComplexScalar T>
void set_identity(HostContext& context, BlockView<T, HostSpace> X, Index first_row) {
  set_zero<T>(context, X);
  for (Index i = 0; i < std::min(X.rows(), X.cols() - first_row); ++i) X(i, first_row + i) = 1;
}

template <ComplexScalar T>
void scale_rows(HostContext& context, ConstBlockView<T, HostSpace> factors,
                ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape<T, HostSpace>("scale_rows", X, Y);
  require_same_shape("scale_rows", factors,
                     ConstBlockView<T, HostSpace>(X.data(), X.rows(), 1, X.ld()));
  for_each_row<T>(context, X, [&](Index i) {
    const T factor = factors(i, 0);
    for (Index j = 0; j < X.cols(); ++j) Y(i, j) = product(factor, X(i, j));
  });
  context.profile().count(bytes(factors) + 2 * bytes(X), 6 * entries(X));
}

template <ComplexScalar T>
void reciprocals(HostContext& context, ConstBlockView<T, HostSpace> X, BlockView<T, HostSpace> Y) {
  require_same_shape<T, HostSpace>("reciprocals", X, Y);
  for_each_row<T>(context, X, [&](Index i) {
    for (Index j = 0; j < X.cols(); ++j) Y(i, j) = RealOf<T>{1} / X(i, j);
  });
  context.profile().count(2 * bytes(X), 6 * entries(X));
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template void set_identity(HostContext&, BlockView<T, HostSpace>, Index);        \
  template void scale_rows(HostContext&, ConstBlockView<T, HostSpace>,             \
                           ConstBlockView<T, HostSpace>, BlockView<T, HostSpace>); \
  template void reciprocals(HostContext&, ConstBlockView<T, HostSpace>, BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_COMPLEX(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
