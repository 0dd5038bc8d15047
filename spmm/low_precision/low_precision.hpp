#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/reorder/block_order.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>

/// Products whose factors are rounded to a short number type, as tensor cores compute them.
namespace heddle {

/// A read-only block by columns in the memory of `Space`: entry (i, j) is data[i + j·ld].
template <class T, class Space>
struct ColumnMajorBlock {
  const T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index ld = 0;
};

/// C = A B with the values of A and B rounded to V (`Half`, `Bfloat16`, `Tf32`), to the nearest.
/// Products are exact in single precision, sums and C are in single precision. Before the rounding,
/// rows of A and columns of B are scaled as `RangeScaling` says, and C is scaled back.
template <class V, class Ctx>
class LowPrecisionPlan;

template <class V>
class LowPrecisionPlan<V, HostContext> {
 public:
  /// Rounds A. Keeps nothing of A itself. Throws `InvalidArgument` as `row_exponents`,
  /// `OutOfMemory`.
  template <Scalar T>
  LowPrecisionPlan(HostContext& context, CsrView<T, HostSpace> A,
                   RangeScaling scaling = RangeScaling::powers_of_two);

  /// C = A B with B cols×N and C rows×N. The result has the same bits for every number of threads.
  /// Allocates for more columns than before. A plan serves one call at a time. Throws
  /// `InvalidArgument` if shapes do not fit, as `column_exponents`, and with the place of the first
  /// entry of C that single precision cannot hold.
  template <Scalar T>
  void multiply(HostContext& context, ConstBlockView<T, HostSpace> B,
                BlockView<float, HostSpace> C);

  /// The same for a B by columns, which is first copied by rows.
  template <Scalar T>
  void multiply(HostContext& context, const ColumnMajorBlock<T, HostSpace>& B,
                BlockView<float, HostSpace> C);

  /// A row of A was scaled by 2^e with its e here.
  const std::vector<std::int32_t>& row_exponents() const noexcept { return row_exponents_; }

  /// The columns of B, of the last product.
  const std::vector<std::int32_t>& column_exponents() const noexcept { return column_exponents_; }

 private:
  void scale_back(HostContext& context, BlockView<float, HostSpace> C) const;

  RangeScaling scaling_;
  std::vector<std::int32_t> row_exponents_;
  std::vector<std::int32_t> column_exponents_;
  HostCsrMatrix<float> A_;
  SpmmPlan<float, HostContext> plan_;
  MultiVector<float, HostSpace> B_;
};

namespace detail {
struct ScaledBlock;
template <class V>
struct ShortBlock;
template <class V, class T>
struct Rounding;
template <class V>
class BlockMatrix;
template <class V>
class SlicedMatrix;
}  // namespace detail

/// How a plan keeps A on a GPU.
enum class BlockStorage {
  automatic,      ///< what is predicted to be fastest for 8 columns
  blocks,         ///< dense blocks at multiples of their width (`BlockCsr`)
  panels,         ///< dense blocks of the columns with entries (`ColumnPanels`)
  slices,         ///< rows in their natural order, multiplied without tensor cores
  staged_slices,  ///< the same with B in shared memory
};

/// "blocks", "panels", "slices" or "staged slices"; "automatic".
const char* storage_name(BlockStorage storage) noexcept;

/// C = A B on tensor cores (`mma.sync`, compute capability 8.0 and newer): m16n8k16 for `Half` and
/// `Bfloat16`, m16n8k8 for `Tf32`, with A in blocks of 16×16 and 16×8 entries. Scaling, rounding
/// and sums are as for the host, but sums of tensor cores cut off instead of rounding;
/// `product_error` bounds both. Where blocks hold few entries, A stays in rows, whose products are
/// computed and summed in single precision.
template <class V>
class LowPrecisionPlan<V, CudaContext> {
 public:
  /// A block's rows have 32 bytes.
  static constexpr BlockShape kShape{16, 32 / static_cast<Index>(sizeof(V))};

  /// Rounds A on the host, builds its blocks in this order and copies them to the device. Throws
  /// `InvalidArgument` as `row_exponents` and `check_order` and for a B that has no room in shared
  /// memory (`staged_slices`), `DeviceError` for a device without these tensor cores,
  /// `OutOfMemory`.
  template <Scalar T>
  LowPrecisionPlan(CudaContext& context, HostContext& host, CsrView<T, HostSpace> A,
                   RangeScaling scaling = RangeScaling::powers_of_two, const BlockOrder& order = {},
                   BlockStorage storage = BlockStorage::automatic);

  /// C = A B, queued on the context's stream; B cols×N, C rows×N, any N. The result has the same
  /// bits in every run. Allocates for more columns than before. NaN and Inf in B reach C. Entries
  /// that single precision cannot hold become infinite. Throws `InvalidArgument` if shapes do not
  /// fit.
  template <Scalar T>
  void multiply(CudaContext& context, ConstBlockView<T, DeviceSpace> B,
                BlockView<float, DeviceSpace> C);

  /// The same for a B that is in V already. It is not scaled, and it is read where it lies, by one
  /// kernel, if B.data() and B.ld()·sizeof(V) are multiples of 16 bytes and all B.ld() entries of
  /// each row can be read. Else it is copied first.
  void multiply(CudaContext& context, ConstBlockView<V, DeviceSpace> B,
                BlockView<float, DeviceSpace> C);

  /// C = A B for a B by columns, in T or in V, which is copied by rows. C is row-major. Throws as
  /// above.
  template <class T>
  void multiply(CudaContext& context, const ColumnMajorBlock<T, DeviceSpace>& B,
                BlockView<float, DeviceSpace> C);

  LowPrecisionPlan(LowPrecisionPlan&&) noexcept;
  LowPrecisionPlan& operator=(LowPrecisionPlan&&) noexcept;
  ~LowPrecisionPlan();

  /// How A is kept; never `automatic`.
  BlockStorage storage() const noexcept { return storage_; }

  /// Whether A is kept in rows, in their natural order.
  bool in_rows() const noexcept { return sliced_ != nullptr; }

  /// A row of A was scaled by 2^e with its e here.
  const std::vector<std::int32_t>& row_exponents() const noexcept { return host_row_exponents_; }

  /// The columns of B, of the last product. Waits for it.
  std::vector<std::int32_t> column_exponents(CudaContext& context) const;

 private:
  void check_shapes(const ConstBlockView<float, DeviceSpace>& C, Index rows_of_B,
                    Index columns_of_B) const;
  BlockStorage fastest_storage(CudaContext& context, HostContext& host,
                               const CsrView<float, HostSpace>& A, const BlockOrder& order) const;
  template <class T>
  detail::ShortBlock<V> rounded(CudaContext& context, detail::Rounding<V, T> rounding, bool scaled);
  template <class T>
  void multiply_rounded(CudaContext& context, const detail::Rounding<V, T>& rounding,
                        BlockView<float, DeviceSpace> C);
  void multiply_short(CudaContext& context, const detail::ShortBlock<V>& B,
                      BlockView<float, DeviceSpace> C, bool scaled);
  const std::int32_t* column_order() const noexcept;

  RangeScaling scaling_;
  std::vector<std::int32_t> host_row_exponents_;
  Index rows_ = 0;
  Index cols_ = 0;
  Index padded_cols_ = 0;  ///< of A: whole blocks
  BlockStorage storage_ = BlockStorage::automatic;
  std::unique_ptr<detail::BlockMatrix<V>> blocked_;  ///< one of these two
  std::unique_ptr<detail::SlicedMatrix<V>> sliced_;
  Buffer<std::int32_t, DeviceSpace> row_exponents_;
  Index columns_of_B_ = 0;
  bool scaled_ = false;  ///< whether the last B was
  Buffer<std::int32_t, DeviceSpace> column_exponents_;
  Buffer<std::int32_t, DeviceSpace> largest_exponents_;
  Buffer<V, DeviceSpace> B_;                      ///< rounded, padded with zeros
  Buffer<unsigned, DeviceSpace> arrived_blocks_;  ///< counters, 0 between products
};

// The order of a matrix for products on the tensor cores of this GPU.

/// SMaT's model of `LowPrecisionPlan<V, CudaContext>` with N columns in V, fitted to products with
/// 5 thousand to 74 thousand blocks on this GPU: seconds per block, and per product. `gathered`:
/// rows of B are not neighbours, because A's columns have another order. It is measured at the
/// first call per type, N up to the next slab, and kind of GPU in this process; this takes some
/// milliseconds. V is `Half`, `Bfloat16` or `Tf32`. Throws as the plan does.
template <class V>
LinearTime measured_block_time(CudaContext& context, HostContext& host, Index N, bool gathered);

/// `best_order_for_blocks` by these times, for blocks as the plan has them.
template <class V>
BlockOrdering fastest_block_order(CudaContext& context, HostContext& host, const RowPattern& A,
                                  Index N);

}  // namespace heddle
