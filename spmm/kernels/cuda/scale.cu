#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/scale.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ __launch_bounds__(kThreads) void scale_kernel(SpmmProduct<T> p) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.A.rows * p.N) return;
  T& entry = p.C[i / p.N * p.ldc + i % p.N];
  entry = p.beta == T{0} ? T{0} : p.beta * entry;
}

}  // namespace

template <class T>
void launch_scale(CudaContext& context, const SpmmProduct<T>& product) {
  const unsigned blocks = blocks_for(product.A.rows * product.N, kThreads);
  scale_kernel<<<blocks, kThreads, 0, context.stream()>>>(product);
  check_launch();
}

#define HEDDLE_INSTANTIATE(T) template void launch_scale(CudaContext&, const SpmmProduct<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
