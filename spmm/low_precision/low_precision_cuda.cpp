#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/blocked/value_types.hpp>
#include <heddle/spmm/low_precision/block_product.hpp>
#include <heddle/spmm/low_precision/fragment_order.hpp>
#include <heddle/spmm/low_precision/low_precision_cuda.hpp>
#include <heddle/spmm/low_precision/rounded_matrix.hpp>
#include <heddle/spmm/low_precision/row_product.hpp>
#include <utility>

namespace heddle {
namespace {

/// The oldest device whose tensor cores take these types.
constexpr int kLeastCapability = 80;

/// The kernels read B by so many bytes.
constexpr Index kVectorBytes = 16;

/// Block rows are cut where one would keep the warps of a team busy for longer than this many
/// blocks each, or longer than the other blocks keep all warps.
constexpr Index kLeastPiece = 8;

Index longest_piece(const CudaContext& context, Index blocks) {
  const Index warps = detail::warps_at_a_time(context, 1);
  return kMostWarpsPerUnit * std::max(kLeastPiece, (blocks + warps - 1) / warps);
}

/// The values of blocks stored by rows, in `fragment_order`.
template <class V>
Buffer<V, HostSpace> in_fragment_order(HostContext& host, const Buffer<V, HostSpace>& values) {
  static constexpr auto kOrder = detail::fragment_order<V>();
  Buffer<V, HostSpace> ordered(host, values.size());
  const auto blocks = static_cast<Index>(values.size() / kOrder.size());
  constexpr Index kLeastBlocks = 64;
  const Slabs slabs = make_slabs(blocks, kLeastBlocks);
  parallel_for(host.threads(), slabs.count(), [&](Index slab) {
    for (Index block = slabs.begin(slab); block < slabs.end(slab); ++block) {
      const std::size_t first = static_cast<std::size_t>(block) * kOrder.size();
      for (std::size_t k = 0; k < kOrder.size(); ++k) {
        ordered.data()[first + k] = values.data()[first + static_cast<std::size_t>(kOrder[k])];
      }
    }
  });
  return ordered;
}

/// A buffer of at least `size` entries: this one if it has them.
template <class T>
void grow(CudaContext& context, Buffer<T, DeviceSpace>& buffer, Index size) {
  if (static_cast<Index>(buffer.size()) >= size) return;
  buffer = {context, static_cast<std::size_t>(size)};
}

/// The same for counters, which begin at 0.
void grow_counters(CudaContext& context, Buffer<unsigned, DeviceSpace>& counters, Index size) {
  if (static_cast<Index>(counters.size()) >= size) return;
  grow(context, counters, size);
  check(cudaMemsetAsync(counters.data(), 0, counters.size() * sizeof(unsigned), context.stream()));
}

template <class T>
Buffer<T, DeviceSpace> copied(CudaContext& context, const std::vector<T>& values) {
  Buffer<T, DeviceSpace> placed(context, values.size());
  context.copy_to_device(placed.data(), values.data(), values.size() * sizeof(T));
  return placed;
}

/// What is to be rounded, of a B by rows.
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

bool rows_are_faster(Index nnz, Index blocks, BlockShape shape, std::size_t value_bytes) noexcept {
  constexpr double kColumns = 8;
  // A product in rows spends more instructions per byte.
  constexpr double kShare = .75;
  const auto bytes = static_cast<double>(value_bytes);
  const double row_of_B = kColumns * bytes;
  const double entry = bytes + sizeof(std::int32_t) + row_of_B;
  const double block = static_cast<double>(shape.height * shape.width) * bytes +
                       sizeof(std::int32_t) + static_cast<double>(shape.width) * row_of_B;
  return static_cast<double>(nnz) * entry < kShare * static_cast<double>(blocks) * block;
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
  BlockCsr<V, HostSpace> blocked = make_block_csr<V>(host, rounded.view(), kShape, order);
  padded_cols_ = (A.cols + kShape.width - 1) / kShape.width * kShape.width;
  row_exponents_ = copied(context, host_row_exponents_);
  if (storage == BlockStorage::rows ||
      (storage == BlockStorage::automatic &&
       rows_are_faster(A.nnz, blocked.blocks(), kShape, sizeof(V)))) {
    store_rows(context, host, std::as_const(rounded).view());
    return;
  }
  const BlockSchedule schedule = block_schedule(blocked.row_offsets.data(), blocked.block_rows(),
                                                longest_piece(context, blocked.blocks()));
  blocks_ = blocked.blocks();
  units_ = static_cast<Index>(schedule.units.size());
  split_rows_ = static_cast<Index>(schedule.split_rows.size());
  slots_ = schedule.slots;
  schedule_ = copied(context, schedule.units);
  split_ = copied(context, schedule.split_rows);
  values_ = place(context, in_fragment_order<V>(host, blocked.values));
  columns_ = place(context, std::move(blocked.columns));
  row_order_ = place(context, std::move(blocked.row_order));
  column_order_ = place(context, std::move(blocked.column_order));
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::store_rows(CudaContext& context, HostContext& host,
                                                  const CsrView<float, HostSpace>& A) {
  Buffer<V, HostSpace> values(host, static_cast<std::size_t>(A.nnz));
  std::vector<std::int32_t> long_rows;
  for (Index row = 0; row < A.rows; ++row) {
    for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1]; ++k) {
      values.data()[k] = V::round(static_cast<double>(A.values[k]));
    }
    if (A.row_offsets[row + 1] - A.row_offsets[row] > detail::kLongShortRow) {
      long_rows.push_back(static_cast<std::int32_t>(row));
    }
  }
  rows_format_.lane_exponent = detail::lane_exponent(A.rows, A.nnz);
  rows_format_.offsets = copied(context, std::vector(A.row_offsets, A.row_offsets + A.rows + 1));
  rows_format_.columns = copied(context, std::vector(A.columns, A.columns + A.nnz));
  rows_format_.values = place(context, std::move(values));
  rows_format_.long_rows = copied(context, long_rows);
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
  rounding.order = column_order_.data();
  rounding.rows = padded_cols_;
  rounding.pitch = (rounding.N + kPiece - 1) / kPiece * kPiece;
  grow(context, B_, rounding.rows * rounding.pitch);
  rounding.result = B_.data();
  if constexpr (!std::is_same_v<T, V>) {
    if (scaled) {
      grow(context, column_exponents_, rounding.N);
      grow(context, largest_exponents_, rounding.N * detail::kExponentBlocks);
      grow_counters(context, arrived_blocks_, rounding.N);
      rounding.exponents = column_exponents_.data();
      rounding.largest = largest_exponents_.data();
      rounding.arrived = arrived_blocks_.data();
      detail::find_column_exponents(context, rounding);
    }
  }
  detail::round_block(context, rounding);
  return {B_.data(), rounding.rows, rounding.pitch, nullptr};
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply_in_rows(CudaContext& context,
                                                        const detail::ShortBlock<V>& B,
                                                        BlockView<float, DeviceSpace> C,
                                                        bool scaled) {
  detail::RowProduct<V> product;
  product.rows = rows_;
  product.N = C.cols();
  product.lane_exponent = rows_format_.lane_exponent;
  product.row_offsets = rows_format_.offsets.data();
  product.columns = rows_format_.columns.data();
  product.values = rows_format_.values.data();
  product.long_rows = rows_format_.long_rows.data();
  product.long_count = static_cast<Index>(rows_format_.long_rows.size());
  product.row_exponents = row_exponents_.data();
  product.column_exponents = scaled ? column_exponents_.data() : nullptr;
  product.B = B;
  product.C = C.data();
  product.ldc = C.ld();
  detail::multiply_rows<V>(context, product);
}

template <class V>
void LowPrecisionPlan<V, CudaContext>::multiply_short(CudaContext& context,
                                                      const detail::ShortBlock<V>& B,
                                                      BlockView<float, DeviceSpace> C,
                                                      bool scaled) {
  if (in_rows()) return multiply_in_rows(context, B, C, scaled);
  const Index slab = detail::slab_columns(C.cols());
  const Index slabs = (C.cols() + slab - 1) / slab;
  grow(context, partial_, kShape.height * slots_ * slabs * slab);
  grow_counters(context, arrived_pieces_, split_rows_ * slabs);
  const int team =
      warps_per_unit(units_ * slabs, blocks_ * slabs, detail::warps_at_a_time(context, C.cols()));
  detail::BlockProduct<V> product;
  product.rows = rows_;
  product.N = C.cols();
  product.units = units_;
  product.team_exponent = std::countr_zero(static_cast<unsigned>(team));
  product.schedule = schedule_.data();
  product.split = split_.data();
  product.values = values_.data();
  product.columns = columns_.data();
  product.row_order = row_order_.data();
  product.row_exponents = row_exponents_.data();
  product.column_exponents = scaled ? column_exponents_.data() : nullptr;
  product.B = B;
  product.partial = partial_.data();
  product.arrived = arrived_pieces_.data();
  product.C = C.data();
  product.ldc = C.ld();
  detail::multiply_blocks<V>(context, product);
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
  const bool aligned = reinterpret_cast<std::uintptr_t>(B.data()) % kVectorBytes == 0 &&
                       B.ld() * static_cast<Index>(sizeof(V)) % kVectorBytes == 0;
  if (!aligned) return multiply_rounded(context, by_rows<V>(B), C);
  check_shapes(C, B.rows(), B.cols());
  columns_of_B_ = B.cols();
  scaled_ = false;
  if (C.empty()) return;
  multiply_short(context, {B.data(), cols_, B.ld(), column_order_.data()}, C, false);
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
