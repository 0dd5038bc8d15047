#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/block_product.hpp>
#include <heddle/spmm/low_precision/low_precision_cuda.hpp>
#include <heddle/spmm/low_precision/rounded_matrix.hpp>
#include <utility>

namespace heddle {
namespace {

/// The oldest device whose tensor cores take these types.
constexpr int kLeastCapability = 80;

/// Block rows are cut where one would keep a warp busy for longer than this many blocks, or longer
/// than the other blocks keep all warps.
constexpr Index kLeastPiece = 32;
constexpr Index kWarpsPerMultiprocessor = 16;

Index longest_piece(const CudaContext& context, Index blocks) {
  const Index warps = kWarpsPerMultiprocessor * context.device().multiprocessors;
  return std::max(kLeastPiece, (blocks + warps - 1) / warps);
}

template <class T>
Buffer<T, DeviceSpace> copied(CudaContext& context, const std::vector<T>& values) {
  Buffer<T, DeviceSpace> placed(context, values.size());
  context.copy_to_device(placed.data(), values.data(), values.size() * sizeof(T));
  return placed;
}

}  // namespace

template <class V>
template <Scalar T>
LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(CudaContext& context, HostContext& host,
                                                   CsrView<T, HostSpace> A, RangeScaling scaling,
                                                   const BlockOrder& order)
    : scaling_(scaling), rows_(A.rows), cols_(A.cols) {
  const std::string_view type = limits_of(detail::precision_of<V>()).name;
  if (context.device().compute_capability < kLeastCapability) {
    throw DeviceError(fmt::format(
        "products in {} need tensor cores of compute capability {}.{}, but {} has {}.{}", type,
        kLeastCapability / 10, kLeastCapability % 10, context.device().name,
        context.device().compute_capability / 10, context.device().compute_capability % 10));
  }
  host_row_exponents_ = heddle::row_exponents(host, A, scaling, V::kLargest, type);
  const HostCsrMatrix<float> rounded = detail::rounded_matrix<V>(host, A, host_row_exponents_);
  BlockCsr<V, HostSpace> blocked = make_block_csr<V>(host, rounded.view(), kShape, order);
  padded_cols_ = (A.cols + kShape.width - 1) / kShape.width * kShape.width;
  const BlockSchedule schedule = block_schedule(blocked.row_offsets.data(), blocked.block_rows(),
                                                longest_piece(context, blocked.blocks()));
  units_ = static_cast<Index>(schedule.units.size());
  split_rows_ = static_cast<Index>(schedule.split_rows.size());
  slots_ = schedule.slots;
  schedule_ = copied(context, schedule.units);
  split_ = copied(context, schedule.split_rows);
  row_exponents_ = copied(context, host_row_exponents_);
  values_ = place(context, std::move(blocked.values));
  columns_ = place(context, std::move(blocked.columns));
  row_order_ = place(context, std::move(blocked.row_order));
  column_order_ = place(context, std::move(blocked.column_order));
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::prepare(CudaContext& context, Index N) {
  const Index slab = detail::slab_columns(N);
  const Index columns = (N + slab - 1) / slab * slab;
  if (columns <= prepared_) return;
  column_exponents_ = {context, static_cast<std::size_t>(columns)};
  B_ = {context, static_cast<std::size_t>(padded_cols_ * columns)};
  partial_ = {context, static_cast<std::size_t>(kShape.height * slots_ * columns)};
  prepared_ = columns;
}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context,
                                                ConstBlockView<T, DeviceSpace> B,
                                                BlockView<float, DeviceSpace> C) {
  if (B.rows() != cols_ || C.rows() != rows_ || C.cols() != B.cols()) {
    throw InvalidArgument(fmt::format("C = A B does not fit: A is {}x{}, B is {}x{}, C is {}x{}",
                                      rows_, cols_, B.rows(), B.cols(), C.rows(), C.cols()));
  }
  columns_of_B_ = B.cols();
  if (C.empty()) return;
  prepare(context, B.cols());
  const Index slab = detail::slab_columns(B.cols());
  detail::BlockProduct<V> product;
  product.rows = rows_;
  product.cols = cols_;
  product.N = B.cols();
  product.padded_rows = padded_cols_;
  product.pitch = (B.cols() + slab - 1) / slab * slab;
  product.units = units_;
  product.split_rows = split_rows_;
  product.schedule = schedule_.data();
  product.split = split_.data();
  product.values = values_.data();
  product.columns = columns_.data();
  product.row_order = row_order_.data();
  product.column_order = column_order_.data();
  product.row_exponents = row_exponents_.data();
  product.column_exponents = column_exponents_.data();
  product.B = B_.data();
  product.partial = partial_.data();
  product.C = C.data();
  product.ldc = C.ld();
  detail::find_column_exponents<V, T>(context, product, B, scaling_);
  detail::round_block<V, T>(context, product, B);
  detail::multiply_blocks<V>(context, product);
}

template <class V>
std::vector<std::int32_t> LowPrecisionPlan<V, CudaContext>::column_exponents(
    CudaContext& context) const {
  std::vector<std::int32_t> exponents(static_cast<std::size_t>(columns_of_B_));
  if (column_exponents_.size() > 0) {
    context.copy_to_host(exponents.data(), column_exponents_.data(),
                         exponents.size() * sizeof(std::int32_t));
  }
  return exponents;
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                       \
  template LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(                             \
      CudaContext&, HostContext&, CsrView<T, HostSpace>, RangeScaling, const BlockOrder&); \
  template void LowPrecisionPlan<V, CudaContext>::multiply(                                \
      CudaContext&, ConstBlockView<T, DeviceSpace>, BlockView<float, DeviceSpace>);
#define HEDDLE_INSTANTIATE(V)                      \
  template class LowPrecisionPlan<V, CudaContext>; \
  HEDDLE_INSTANTIATE_FOR(V, float)                 \
  HEDDLE_INSTANTIATE_FOR(V, double)
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
