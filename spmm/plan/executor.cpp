#include <heddle/spmm/features/features_cuda.hpp>
#include <heddle/spmm/kernels/cuda/merge.hpp>
#include <heddle/spmm/kernels/cuda/nonzero_parallel.hpp>
#include <heddle/spmm/kernels/cuda/panel_mma.hpp>
#include <heddle/spmm/kernels/cuda/row_broadcast.hpp>
#include <heddle/spmm/kernels/cuda/row_cached.hpp>
#include <heddle/spmm/kernels/cuda/row_split.hpp>
#include <heddle/spmm/kernels/cuda/scale.hpp>
#include <heddle/spmm/plan/executor.hpp>

namespace heddle::cuda {
namespace {

/// Index 0 … 2 of a cuSPARSE kernel.
int cusparse_index(CudaKernel kernel) noexcept {
  return static_cast<int>(kernel) - static_cast<int>(CudaKernel::cusparse_alg1);
}

constexpr Index kWarpSize = 32;

/// Makes `buffer` hold at least `size` values.
template <class U>
void grow(CudaContext& context, Buffer<U, DeviceSpace>& buffer, Index size) {
  if (buffer.size() >= static_cast<std::size_t>(size)) return;
  buffer = Buffer<U, DeviceSpace>(context, static_cast<std::size_t>(size));
}

}  // namespace

template <class T>
SpmmExecutor<T>::SpmmExecutor(CudaContext& context, const CsrView<T, DeviceSpace>& A)
    : context_(&context), A_(A), features_(device_features(context, A)) {}

template <class T>
void SpmmExecutor<T>::prepare(CudaKernel kernel, Index N) {
  switch (kernel) {
    case CudaKernel::row_split:
    case CudaKernel::row_parallel:
    case CudaKernel::row_cached:
    case CudaKernel::row_broadcast:
      break;
    case CudaKernel::merge:
      if (!nonzero_path_) nonzero_path_.emplace(*context_, A_, PathMeasure::nonzeros);
      grow(*context_, carries_, merge_carries<T>(*nonzero_path_, N));
      break;
    case CudaKernel::merge_path:
      if (!even_path_) even_path_.emplace(*context_, A_, PathMeasure::rows_and_nonzeros);
      grow(*context_, carries_, merge_carries<T>(*even_path_, N));
      break;
    case CudaKernel::nonzero_parallel:
      if (!nonzero_path_) nonzero_path_.emplace(*context_, A_, PathMeasure::nonzeros);
      grow(*context_, carries_, nonzero_parallel_carries(*nonzero_path_, N));
      break;
    case CudaKernel::panel_mma:
      if (!panels_) panels_.emplace(*context_, A_);
      grow(*context_, parts_, panel_mma_parts(*panels_, N));
      break;
    case CudaKernel::cusparse_alg1:
    case CudaKernel::cusparse_alg2:
    case CudaKernel::cusparse_alg3: {
      const int index = cusparse_index(kernel);
      if (!cusparse_[index]) cusparse_[index].emplace(*context_, A_, index + 1);
      break;
    }
  }
}

template <class T>
void SpmmExecutor<T>::run(CudaKernel kernel, const SpmmProduct<T>& product) {
  const cudaStream_t stream = context_->stream();
  if (A_.nnz == 0 || product.alpha == T{0}) return launch_scale(product, stream);
  switch (kernel) {
    case CudaKernel::row_split:
      return launch_row_split(product, 1, row_lanes(features_), stream);
    case CudaKernel::row_parallel:
      return launch_row_split(product, row_groups(features_), kWarpSize, stream);
    case CudaKernel::row_cached:
      return launch_row_cached(product, stream);
    case CudaKernel::row_broadcast:
      return launch_row_broadcast(product, stream);
    case CudaKernel::merge:
      return launch_merge(product, *nonzero_path_, carries_.data(), stream);
    case CudaKernel::merge_path:
      return launch_merge(product, *even_path_, carries_.data(), stream);
    case CudaKernel::nonzero_parallel:
      return launch_nonzero_parallel(product, *nonzero_path_, carries_.data(), stream);
    case CudaKernel::panel_mma:
      return launch_panel_mma(product, *panels_, parts_.data(), stream);
    case CudaKernel::cusparse_alg1:
    case CudaKernel::cusparse_alg2:
    case CudaKernel::cusparse_alg3:
      return cusparse_[cusparse_index(kernel)]->multiply(product);
  }
}

template class SpmmExecutor<float>;
template class SpmmExecutor<double>;

}  // namespace heddle::cuda
