#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/epilogue.hpp>

namespace heddle::detail::cuda {
namespace {

/// Each thread ends `kWidth` neighbouring entries of C whose sums are 0.
template <int kWidth, class T>
__global__ __launch_bounds__(kThreads) void epilogue_kernel(SpmmProduct<T> p) {
  const Index i = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x;
  const Index per_row = p.N / kWidth;
  if (i >= p.A.rows * per_row) return;
  finish_scaled<Storing::streaming>(p, i / per_row, i % per_row * kWidth, Lane<T, kWidth>{});
}

template <int kWidth, class T>
void launch(CudaContext& context, const SpmmProduct<T>& product) {
  const unsigned blocks = blocks_for(product.A.rows * (product.N / kWidth), kThreads);
  epilogue_kernel<kWidth><<<blocks, kThreads, 0, context.stream()>>>(product);
  check_launch();
}

}  // namespace

template <class T>
void launch_epilogue(CudaContext& context, const SpmmProduct<T>& product) {
  if (is_vectorisable(product)) {
    launch<kVectorWidth<T>>(context, product);
  } else {
    launch<1>(context, product);
  }
}

#define HEDDLE_INSTANTIATE(T) template void launch_epilogue(CudaContext&, const SpmmProduct<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
