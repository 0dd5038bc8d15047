#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/blocks/norm_exponent.hpp>
#include <heddle/linalg/blocks/row_loops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {

template <Scalar T>
void norm_scales(HostContext& context, ConstBlockView<T, HostSpace> X,
                 SmallView<double, HostSpace> scales) {
  require_same_shape("norm_scales", Shape{X.cols(), 2}, Shape{scales.rows, scales.cols});
  const SmallView<double, HostSpace> norms = scales.block(0, 0, X.cols(), 1);
  column_norms<T>(context, X, norms);
  norm_scales(context, norms, scales);
}

void norm_scales(HostContext&, ConstSmallView<double, HostSpace> norms,
                 SmallView<double, HostSpace> scales) {
  require_same_shape("norm_scales", Shape{norms.rows, 2}, Shape{scales.rows, scales.cols});
  for (Index j = 0; j < norms.rows; ++j) {
    const int k = norm_exponent(norms(j, 0));
    scales(j, 0) = power_of_two(-k);
    scales(j, 1) = power_of_two(k);
  }
}

template <Scalar U, Scalar T>
void convert(HostContext& context, ConstBlockView<T, HostSpace> X,
             ConstSmallView<double, HostSpace> factors, BlockView<U, HostSpace> Y) {
  require_same_shape("convert", Shape{X.rows(), X.cols()}, Shape{Y.rows(), Y.cols()});
  require_one_per_column("convert", factors, X.cols());
  for_each_row(context, X, [&](Index i) {
    const T* x = &X(i, 0);
    U* y = &Y(i, 0);
#pragma omp simd
    for (Index j = 0; j < X.cols(); ++j) {
      y[j] = static_cast<U>(static_cast<Wide<T>>(x[j]) * factors.data[j]);
    }
  });
  context.profile().count(bytes(X) + bytes<U, HostSpace>(Y), entries(X));
}

template <Scalar U, Scalar T, Scalar V>
void convert(HostContext& context, ConstBlockView<V, HostSpace> rows,
             ConstBlockView<T, HostSpace> X, ConstSmallView<double, HostSpace> factors,
             BlockView<U, HostSpace> Y) {
  require_same_shape("convert", Shape{X.rows(), X.cols()}, Shape{Y.rows(), Y.cols()});
  require_same_shape("convert", Shape{X.rows(), 1}, Shape{rows.rows(), rows.cols()});
  require_one_per_column("convert", factors, X.cols());
  for_each_row(context, X, [&](Index i) {
    const auto row = static_cast<double>(rows(i, 0));
    const T* x = &X(i, 0);
    U* y = &Y(i, 0);
#pragma omp simd
    for (Index j = 0; j < X.cols(); ++j) {
      y[j] = static_cast<U>(static_cast<double>(x[j]) * factors.data[j] * row);
    }
  });
  context.profile().count(bytes(rows) + bytes(X) + bytes<U, HostSpace>(Y), 2 * entries(X));
}

#define HEDDLE_INSTANTIATE(T)                                           \
  template void norm_scales(HostContext&, ConstBlockView<T, HostSpace>, \
                            SmallView<double, HostSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T)                                    \
  template void convert(HostContext&, ConstBlockView<T, HostSpace>, \
                        ConstSmallView<double, HostSpace>, BlockView<U, HostSpace>);
HEDDLE_FOR_EACH_CONVERSION(HEDDLE_INSTANTIATE)
HEDDLE_INSTANTIATE(std::complex<double>, std::complex<double>)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T, V)                                                               \
  template void convert(HostContext&, ConstBlockView<V, HostSpace>, ConstBlockView<T, HostSpace>, \
                        ConstSmallView<double, HostSpace>, BlockView<U, HostSpace>);
HEDDLE_INSTANTIATE(float, double, float)
HEDDLE_INSTANTIATE(double, float, float)
HEDDLE_INSTANTIATE(double, double, double)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
