#include <heddle/linalg/base/philox.hpp>
#include <heddle/linalg/blocks/assign.cuh>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/blocks/norm_exponent.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

template <class T>
struct Constant {
  T constant;
  __device__ T operator()(Index, int) const { return constant; }
};

template <class T>
struct Identity {
  Index first_row;
  __device__ T operator()(Index i, int c) const { return first_row + i == c ? T{1} : T{0}; }
};

template <class T>
struct Entry {
  const T* data;
  Index ld;
  __device__ T operator()(Index i, int c) const { return data[i * ld + c]; }
};

template <class T>
struct Reciprocal {
  const T* data;
  Index ld;
  __device__ T operator()(Index i, int c) const { return reciprocal(data[i * ld + c]); }
};

/// An entry of X diag(factors), rounded to U.
template <class T, class U = T>
struct Scaled {
  const T* data;
  Index ld;
  const double* factors;
  __device__ U operator()(Index i, int c) const {
    const T x = data[i * ld + c];
    if constexpr (kComplex<T>) {
      return {x.real() * factors[c], x.imag() * factors[c]};
    } else {
      return static_cast<U>(static_cast<double>(x) * factors[c]);
    }
  }
};

/// An entry of diag(rows) X diag(factors), rounded to U.
template <class T, class U, class V>
struct BothScaled {
  Scaled<T, double> scaled;
  const V* rows;
  Index rows_ld;
  __device__ U operator()(Index i, int c) const {
    return static_cast<U>(scaled(i, c) * static_cast<double>(rows[i * rows_ld]));
  }
};

template <class T>
struct RowScaled {
  const T* data;
  Index ld;
  const T* factors;
  Index factors_ld;
  __device__ T operator()(Index i, int c) const {
    return product(factors[i * factors_ld], data[i * ld + c]);
  }
};

template <class T>
struct Combined {
  T alpha;
  const T* X;
  Index X_ld;
  T beta;
  const T* Y;
  Index Y_ld;
  __device__ T operator()(Index i, int c) const {
    const T product = alpha * X[i * X_ld + c];
    return beta == T{0} ? product : product + beta * Y[i * Y_ld + c];
  }
};

template <class T>
struct Random {
  std::uint64_t seed;
  std::uint64_t stream;
  Index first_row;
  const std::int32_t* numbers;  ///< null: first_row, first_row + 1, …
  __device__ T operator()(Index i, int c) const {
    const Index number = numbers != nullptr ? numbers[i] : first_row + i;
    const PhiloxBlock random = random_pair(seed, stream, number, c / 2);
    const int word = c % 2 * 2;
    return static_cast<T>(signed_uniform(random.words[word], random.words[word + 1]));
  }
};

/// Replaces the norms in column 0 of `scales` by powers of two, and sets column 1 to their
/// inverses.
__global__ void norm_scales_kernel(const double* norms, SmallView<double, DeviceSpace> scales) {
  for (Index j = threadIdx.x; j < scales.rows; j += blockDim.x) {
    const int k = norm_exponent(norms[j]);
    scales.data[j] = power_of_two(-k);
    scales.data[j + scales.ld] = power_of_two(k);
  }
}

}  // namespace

template <RealScalar T>
void set_zero(CudaContext& context, BlockView<T, DeviceSpace> X) {
  launch_assign(context, X, Constant<T>{0});
  context.profile().count(bytes<T, DeviceSpace>(X), 0);
}

template <Scalar T>
void set_identity(CudaContext& context, BlockView<T, DeviceSpace> X, Index first_row) {
  launch_assign(context, X, Identity<T>{first_row});
}

template <RealScalar T>
void copy(CudaContext& context, ConstBlockView<T, DeviceSpace> X, BlockView<T, DeviceSpace> Y) {
  require_same_shape("copy", X, Y);
  launch_assign(context, Y, Entry<T>{X.data(), X.ld()});
  context.profile().count(2 * bytes(X), 0);
}

template <RealScalar T>
void fill_random(CudaContext& context, std::uint64_t seed, std::uint64_t stream,
                 BlockView<T, DeviceSpace> X, Index first_row) {
  launch_assign(context, X, Random<T>{seed, stream, first_row, context.row_numbers()});
  context.profile().count(bytes<T, DeviceSpace>(X), 0);
}

template <RealScalar T>
void scale_columns(CudaContext& context, ConstSmallView<double, DeviceSpace> factors,
                   BlockView<T, DeviceSpace> X) {
  require_one_per_column("scale_columns", factors, X.cols());
  launch_assign(context, X, Scaled<T>{X.data(), X.ld(), factors.data});
  context.profile().count(2 * bytes<T, DeviceSpace>(X), entries<T, DeviceSpace>(X));
}

template <Scalar T>
void scale_rows(CudaContext& context, ConstBlockView<T, DeviceSpace> factors,
                ConstBlockView<T, DeviceSpace> X, BlockView<T, DeviceSpace> Y) {
  require_same_shape("scale_rows", X, Y);
  require_same_shape("scale_rows", factors,
                     ConstBlockView<T, DeviceSpace>(X.data(), X.rows(), 1, X.ld()));
  launch_assign(context, Y, RowScaled<T>{X.data(), X.ld(), factors.data(), factors.ld()});
  context.profile().count(bytes(factors) + 2 * bytes(X), (kComplex<T> ? 6 : 1) * entries(X));
}

template <Scalar T>
void reciprocals(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 BlockView<T, DeviceSpace> Y) {
  require_same_shape("reciprocals", X, Y);
  launch_assign(context, Y, Reciprocal<T>{X.data(), X.ld()});
  context.profile().count(2 * bytes(X), (kComplex<T> ? 6 : 1) * entries(X));
}

template <RealScalar T>
void axpby(CudaContext& context, double alpha, ConstBlockView<T, DeviceSpace> X, double beta,
           BlockView<T, DeviceSpace> Y) {
  require_same_shape("axpby", X, Y);
  launch_assign(
      context, Y,
      Combined<T>{static_cast<T>(alpha), X.data(), X.ld(), static_cast<T>(beta), Y.data(), Y.ld()});
  context.profile().count((beta == 0 ? 2 : 3) * bytes(X), (beta == 0 ? 1 : 3) * entries(X));
}

template <RealScalar T>
void norm_scales(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 SmallView<double, DeviceSpace> scales) {
  require_same_shape("norm_scales", Shape{X.cols(), 2}, Shape{scales.rows, scales.cols});
  const SmallView<double, DeviceSpace> norms = scales.block(0, 0, X.cols(), 1);
  column_norms<T>(context, X, norms);
  norm_scales(context, norms, scales);
}

void norm_scales(CudaContext& context, ConstSmallView<double, DeviceSpace> norms,
                 SmallView<double, DeviceSpace> scales) {
  require_same_shape("norm_scales", Shape{norms.rows, 2}, Shape{scales.rows, scales.cols});
  if (norms.rows == 0) return;
  norm_scales_kernel<<<1, kThreads, 0, context.stream()>>>(norms.data, scales);
  check_launch();
}

template <Scalar U, Scalar T>
void convert(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
             ConstSmallView<double, DeviceSpace> factors, BlockView<U, DeviceSpace> Y) {
  require_same_shape("convert", Shape{X.rows(), X.cols()}, Shape{Y.rows(), Y.cols()});
  require_one_per_column("convert", factors, X.cols());
  launch_assign(context, Y, Scaled<T, U>{X.data(), X.ld(), factors.data});
  context.profile().count(bytes(X) + bytes<U, DeviceSpace>(Y), entries(X));
}

template <Scalar U, Scalar T, Scalar V>
void convert(CudaContext& context, ConstBlockView<V, DeviceSpace> rows,
             ConstBlockView<T, DeviceSpace> X, ConstSmallView<double, DeviceSpace> factors,
             BlockView<U, DeviceSpace> Y) {
  require_same_shape("convert", Shape{X.rows(), X.cols()}, Shape{Y.rows(), Y.cols()});
  require_same_shape("convert", Shape{X.rows(), 1}, Shape{rows.rows(), rows.cols()});
  require_one_per_column("convert", factors, X.cols());
  launch_assign(context, Y,
                BothScaled<T, U, V>{{X.data(), X.ld(), factors.data}, rows.data(), rows.ld()});
  context.profile().count(bytes(rows) + bytes(X) + bytes<U, DeviceSpace>(Y), 2 * entries(X));
}

#define HEDDLE_INSTANTIATE(T)                                                          \
  template void set_identity(CudaContext&, BlockView<T, DeviceSpace>, Index);          \
  template void scale_rows(CudaContext&, ConstBlockView<T, DeviceSpace>,               \
                           ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>); \
  template void reciprocals(CudaContext&, ConstBlockView<T, DeviceSpace>,              \
                            BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void set_zero(CudaContext&, BlockView<T, DeviceSpace>);                                 \
  template void copy(CudaContext&, ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>);     \
  template void fill_random(CudaContext&, std::uint64_t, std::uint64_t, BlockView<T, DeviceSpace>, \
                            Index);                                                                \
  template void scale_columns(CudaContext&, ConstSmallView<double, DeviceSpace>,                   \
                              BlockView<T, DeviceSpace>);                                          \
  template void axpby(CudaContext&, double, ConstBlockView<T, DeviceSpace>, double,                \
                      BlockView<T, DeviceSpace>);                                                  \
  template void norm_scales(CudaContext&, ConstBlockView<T, DeviceSpace>,                          \
                            SmallView<double, DeviceSpace>);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T)                                      \
  template void convert(CudaContext&, ConstBlockView<T, DeviceSpace>, \
                        ConstSmallView<double, DeviceSpace>, BlockView<U, DeviceSpace>);
HEDDLE_FOR_EACH_CONVERSION(HEDDLE_INSTANTIATE)
HEDDLE_INSTANTIATE(std::complex<double>, std::complex<double>)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T, V)                                                          \
  template void convert(CudaContext&, ConstBlockView<V, DeviceSpace>,                        \
                        ConstBlockView<T, DeviceSpace>, ConstSmallView<double, DeviceSpace>, \
                        BlockView<U, DeviceSpace>);
HEDDLE_INSTANTIATE(float, double, float)
HEDDLE_INSTANTIATE(double, float, float)
HEDDLE_INSTANTIATE(double, double, double)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
