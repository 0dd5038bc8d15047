#include <heddle/linalg/blocks/assign.cuh>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>

namespace heddle {
namespace {

template <class T>
struct ComplexIdentity {
  Index first_row;
  __device__ T operator()(Index i, int c) const { return first_row + i == c ? T{1} : T{0}; }
};

template <class T>
struct ComplexRowScaled {
  const T* data;
  Index ld;
  const T* factors;
  Index factors_ld;
  __device__ T operator()(Index i, int c) const {
    return product(factors[i * factors_ld], data[i * ld + c]);
  }
};

template <class T>
struct ComplexReciprocal {
  const T* data;
  Index ld;
  __device__ T operator()(Index i, int c) const { return reciprocal(data[i * ld + c]); }
};

}  // namespace

template <ComplexScalar T>
void set_identity(CudaContext& context, BlockView<T, DeviceSpace> X, Index first_row) {
  launch_assign(context, X, ComplexIdentity<T>{first_row});
}

template <ComplexScalar T>
void scale_rows(CudaContext& context, ConstBlockView<T, DeviceSpace> factors,
                ConstBlockView<T, DeviceSpace> X, BlockView<T, DeviceSpace> Y) {
  require_same_shape<T, DeviceSpace>("scale_rows", X, Y);
  require_same_shape("scale_rows", factors,
                     ConstBlockView<T, DeviceSpace>(X.data(), X.rows(), 1, X.ld()));
  launch_assign(context, Y, ComplexRowScaled<T>{X.data(), X.ld(), factors.data(), factors.ld()});
  context.profile().count(bytes(factors) + 2 * bytes(X), 6 * entries(X));
}

template <ComplexScalar T>
void reciprocals(CudaContext& context, ConstBlockView<T, DeviceSpace> X,
                 BlockView<T, DeviceSpace> Y) {
  require_same_shape<T, DeviceSpace>("reciprocals", X, Y);
  launch_assign(context, Y, ComplexReciprocal<T>{X.data(), X.ld()});
  context.profile().count(2 * bytes(X), 6 * entries(X));
}

#define HEDDLE_INSTANTIATE(T)                                                          \
  template void set_identity(CudaContext&, BlockView<T, DeviceSpace>, Index);          \
  template void scale_rows(CudaContext&, ConstBlockView<T, DeviceSpace>,               \
                           ConstBlockView<T, DeviceSpace>, BlockView<T, DeviceSpace>); \
  template void reciprocals(CudaContext&, ConstBlockView<T, DeviceSpace>,              \
                            BlockView<T, DeviceSpace>);
HEDDLE_FOR_EACH_COMPLEX(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
