#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/block_matrix.hpp>
#include <heddle/spmm/low_precision/device_copy.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/round_block.hpp>
#include <heddle/spmm/low_precision/rounded_matrix.hpp>
#include <heddle/spmm/low_precision/sliced_matrix.hpp>
#include <heddle/spmm/low_precision/storage_choice.hpp>
#include <limits>
#include <utility>

namespace heddle {
namespace {

/// The oldest device whose tensor cores take these types.
constexpr int kLeastCapability = 80;

/// The kernels read B by this many bytes.
constexpr Index kVectorBytes = 16;

/// The part of a B by rows that is to be rounded.
template <class V, class T>
detail::Rounding<V, T> by_rows(const ConstBlockView<T, DeviceSpace>& B) {
  detail::Rounding<V, T> rounding;
  rounding.B = B.data();
  rounding.B_rows = B.rows();
  rounding.N = B.cols();
  rounding.row_step = B.ld();
  rounding.column_step = 1;
  return rounding;
}

}  // namespace

const char* storage_name(BlockStorage storage) noexcept {
  switch (storage) {
    case BlockStorage::blocks:
      return "blocks";
    case BlockStorage::panels:
      return "panels";
    case BlockStorage::slices:
      return "slices";
    case BlockStorage::staged_slices:
      return "staged slices";
    default:
      return "automatic";
  }
}

template <class V>
template <Scalar T>
LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(CudaContext& context, HostContext& host,
                                                   CsrView<T, HostSpace> A, RangeScaling scaling,
                                                   const BlockOrder& order, BlockStorage storage)
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
  padded_cols_ = (A.cols + kShape.width - 1) / kShape.width * kShape.width;
  row_exponents_ = detail::copy_to_device(context, host_row_exponents_);
  storage_ = storage != BlockStorage::automatic
                 ? storage
                 : fastest_storage(context, host, std::as_const(rounded).view(), order);
  if (storage_ == BlockStorage::blocks || storage_ == BlockStorage::panels) {
    blocked_ = std::make_unique<detail::BlockMatrix<V>>(
        context, host, std::as_const(rounded).view(), order, storage_ == BlockStorage::panels);
    return;
  }
  const bool staged = storage_ == BlockStorage::staged_slices;
  if (staged && !detail::SlicedMatrix<V>::stages(context, padded_cols_)) {
    throw InvalidArgument(
        fmt::format("16 bytes of each of {} rows of B have no room in {} bytes of shared memory",
                    padded_cols_, context.device().shared_bytes_per_block));
  }
  sliced_ = std::make_unique<detail::SlicedMatrix<V>>(context, host, std::as_const(rounded).view(),
                                                      staged);
}

template <class V>
LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(LowPrecisionPlan&&) noexcept = default;
template <class V>
LowPrecisionPlan<V, CudaContext>& LowPrecisionPlan<V, CudaContext>::operator=(
    LowPrecisionPlan&&) noexcept = default;
template <class V>
LowPrecisionPlan<V, CudaContext>::~LowPrecisionPlan() = default;

template <class V>
BlockStorage LowPrecisionPlan<V, CudaContext>::fastest_storage(CudaContext& context,
                                                               HostContext& host,
                                                               const CsrView<float, HostSpace>& A,
                                                               const BlockOrder& order) const {
  detail::StorageCounts counts;
  counts.cols = padded_cols_;
  counts.nnz = A.nnz;
  counts.blocks = count_blocks(host, pattern_of(A), kShape, order).blocks();
  counts.groups = column_groups(
      count_blocks(host, pattern_of(A), {kShape.height, 1}, {order.rows, {}}), kShape.width);
  counts.gathered_lines = detail::gathered_lines(host, A);
  counts.stages = detail::SlicedMatrix<V>::stages(context, padded_cols_);
  const detail::StorageTimes times =
      detail::storage_times(counts, sizeof(V), context.device().multiprocessors);
  const std::pair<double, BlockStorage> candidates[] = {
      {times.blocks, BlockStorage::blocks},
      {times.panels, BlockStorage::panels},
      {times.slices, BlockStorage::slices},
      {times.staged_slices, BlockStorage::staged_slices}};
  return std::ranges::min_element(candidates, {}, [](const auto& c) { return c.first; })->second;
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::check_shapes(const ConstBlockView<float, DeviceSpace>& C,
                                                    Index rows_of_B, Index columns_of_B) const {
  if (rows_of_B == cols_ && C.rows() == rows_ && C.cols() == columns_of_B) return;
  throw InvalidArgument(fmt::format("C = A B does not fit: A is {}x{}, B is {}x{}, C is {}x{}",
                                    rows_, cols_, rows_of_B, columns_of_B, C.rows(), C.cols()));
}

template <class V>
template <class T>
detail::ShortBlock<V> LowPrecisionPlan<V, CudaContext>::rounded(CudaContext& context,
                                                                detail::Rounding<V, T> rounding,
                                                                bool scaled) {
  constexpr Index kPiece = kVectorBytes / static_cast<Index>(sizeof(V));
  rounding.order = column_order();
  rounding.rows = padded_cols_;
  rounding.pitch = (rounding.N + kPiece - 1) / kPiece * kPiece;
  detail::grow(context, B_, rounding.rows * rounding.pitch);
  rounding.result = B_.data();
  if constexpr (!std::is_same_v<T, V>) {
    if (scaled) {
      detail::grow(context, column_exponents_, rounding.N);
      detail::grow(context, largest_exponents_, rounding.N * detail::kExponentBlocks);
      detail::grow_counters(context, arrived_blocks_, rounding.N);
      rounding.exponents = column_exponents_.data();
      rounding.largest = largest_exponents_.data();
      rounding.arrived = arrived_blocks_.data();
      detail::find_column_exponents(context, rounding);
    }
  }
  detail::round_block(context, rounding);
  return {B_.data(), static_cast<std::int32_t>(rounding.rows),
          static_cast<std::int32_t>(rounding.pitch * static_cast<Index>(sizeof(V))), nullptr};
}

template <class V>
const std::int32_t* LowPrecisionPlan<V, CudaContext>::column_order() const noexcept {
  return blocked_ != nullptr ? blocked_->column_order() : nullptr;
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply_short(CudaContext& context,
                                                      const detail::ShortBlock<V>& B,
                                                      BlockView<float, DeviceSpace> C,
                                                      bool scaled) {
  const detail::ScaledBlock result{C.data(),
                                   static_cast<std::int32_t>(C.rows()),
                                   static_cast<std::int32_t>(C.cols()),
                                   C.ld(),
                                   row_exponents_.data(),
                                   scaled ? column_exponents_.data() : nullptr};
  if (blocked_ != nullptr) {
    blocked_->multiply(context, B, result);
  } else {
    sliced_->multiply(context, B, result);
  }
}

template <class V>
template <class T>
void LowPrecisionPlan<V, CudaContext>::multiply_rounded(CudaContext& context,
                                                        const detail::Rounding<V, T>& rounding,
                                                        BlockView<float, DeviceSpace> C) {
  check_shapes(C, rounding.B_rows, rounding.N);
  columns_of_B_ = rounding.N;
  scaled_ = !std::is_same_v<T, V> && scaling_ == RangeScaling::powers_of_two;
  if (C.empty()) return;
  multiply_short(context, rounded(context, rounding, scaled_), C, scaled_);
}

template <class V>
template <Scalar T>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context,
                                                ConstBlockView<T, DeviceSpace> B,
                                                BlockView<float, DeviceSpace> C) {
  multiply_rounded(context, by_rows<V>(B), C);
}

template <class V>
template <class T>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context,
                                                const ColumnMajorBlock<T, DeviceSpace>& B,
                                                BlockView<float, DeviceSpace> C) {
  detail::Rounding<V, T> rounding;
  rounding.B = B.data;
  rounding.B_rows = B.rows;
  rounding.N = B.cols;
  rounding.row_step = 1;
  rounding.column_step = B.ld;
  multiply_rounded(context, rounding, C);
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply(CudaContext& context,
                                                ConstBlockView<V, DeviceSpace> B,
                                                BlockView<float, DeviceSpace> C) {
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(B.data()) % kVectorBytes == 0 &&
      B.ld() * static_cast<Index>(sizeof(V)) % kVectorBytes == 0 &&
      B.ld() <= std::numeric_limits<std::int32_t>::max() / static_cast<Index>(sizeof(V));
  if (!aligned) return multiply_rounded(context, by_rows<V>(B), C);
  check_shapes(C, B.rows(), B.cols());
  columns_of_B_ = B.cols();
  scaled_ = false;
  if (C.empty()) return;
  multiply_short(
      context,
      {B.data(), static_cast<std::int32_t>(cols_),
       static_cast<std::int32_t>(B.ld() * static_cast<Index>(sizeof(V))), column_order()},
      C, false);
}

template <class V>
std::vector<std::int32_t> LowPrecisionPlan<V, CudaContext>::column_exponents(
    CudaContext& context) const {
  std::vector<std::int32_t> exponents(static_cast<std::size_t>(columns_of_B_));
  if (scaled_ && !exponents.empty()) {
    context.copy_to_host(exponents.data(), column_exponents_.data(),
                         exponents.size() * sizeof(std::int32_t));
  }
  return exponents;
}

#define HEDDLE_INSTANTIATE_FOR(V, T)                                                               \
  template LowPrecisionPlan<V, CudaContext>::LowPrecisionPlan(CudaContext&, HostContext&,          \
                                                              CsrView<T, HostSpace>, RangeScaling, \
                                                              const BlockOrder&, BlockStorage);    \
  template void LowPrecisionPlan<V, CudaContext>::multiply(                                        \
      CudaContext&, ConstBlockView<T, DeviceSpace>, BlockView<float, DeviceSpace>);                \
  template void LowPrecisionPlan<V, CudaContext>::multiply(                                        \
      CudaContext&, const ColumnMajorBlock<T, DeviceSpace>&, BlockView<float, DeviceSpace>);
#define HEDDLE_INSTANTIATE(V)                               \
  template class LowPrecisionPlan<V, CudaContext>;          \
  HEDDLE_INSTANTIATE_FOR(V, float)                          \
  HEDDLE_INSTANTIATE_FOR(V, double)                         \
  template void LowPrecisionPlan<V, CudaContext>::multiply( \
      CudaContext&, const ColumnMajorBlock<V, DeviceSpace>&, BlockView<float, DeviceSpace>);
HEDDLE_FOR_EACH_NARROW_FLOAT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle
