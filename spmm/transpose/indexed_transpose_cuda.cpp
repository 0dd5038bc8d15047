#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/features/features_cuda.hpp>
#include <heddle/spmm/kernels/cuda/row_split/launch_row_split.hpp>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <heddle/spmm/select/select.hpp>
#include <heddle/spmm/transpose/indexed_transpose_cuda.hpp>

namespace heddle::detail::cuda {
namespace {

template <class T>
detail::TransposedPattern<DeviceSpace> device_pattern(CudaContext& context,
                                                      const CsrView<T, DeviceSpace>& A) {
  HostContext host;
  Buffer<std::int64_t, HostSpace> row_offsets(host, static_cast<std::size_t>(A.rows + 1));
  Buffer<std::int32_t, HostSpace> columns(host, static_cast<std::size_t>(A.nnz));
  context.copy_to_host(row_offsets.data(), A.row_offsets,
                       row_offsets.size() * sizeof(std::int64_t));
  context.copy_to_host(columns.data(), A.columns, columns.size() * sizeof(std::int32_t));
  const CsrView<T, HostSpace> pattern = {A.rows,         A.cols, A.nnz, row_offsets.data(),
                                         columns.data(), nullptr};
  auto transposed = detail::transposed_pattern(host, pattern);
  return {place(context, std::move(transposed.row_offsets)),
          place(context, std::move(transposed.columns)),
          place(context, std::move(transposed.positions))};
}

}  // namespace

template <class T>
IndexedTranspose<T>::IndexedTranspose(CudaContext& context, const CsrView<T, DeviceSpace>& A)
    : pattern_(device_pattern(context, A)),
      At_(pattern_.view(A)),
      features_(device_features(context, At_)) {}

template <class T>
void IndexedTranspose<T>::run(CudaContext& context, const SpmmProduct<T>& product) const {
  GatheredProduct<T> gathered = {product, pattern_.positions.data()};
  gathered.A = At_;
  const int groups = forced_row_groups(features_, product.N, context.device());
  launch_row_split(context, gathered, groups, row_lanes(features_));
}

#define HEDDLE_INSTANTIATE(T) template class IndexedTranspose<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
