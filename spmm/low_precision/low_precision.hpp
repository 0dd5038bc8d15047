#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/low_precision/narrow_block.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Products whose factors are rounded to a short number type, with sums in single precision.
namespace heddle {

/// How a `LowPrecisionPlan` rounds.
struct LowPrecisionOptions {
  RangeScaling scaling = RangeScaling::powers_of_two;  ///< of the values before they are rounded
  double factor = 1;                                   ///< the matrix of the plan is factor·A
  /// On a GPU a name of `low_precision_kernels()`, "auto" for the one with the shortest predicted
  /// time, or "measure" for the fastest one by the clock. The host has one kernel, "auto".
  std::string kernel = "auto";
  Index columns = 16;     ///< of the products that "auto" and "measure" choose for
  BlockOrder order = {};  ///< of the blocks and panels on a GPU
};

/// The names that `LowPrecisionOptions::kernel` accepts in addition to "auto" and "measure". Only
/// in builds with CUDA.
std::vector<std::string_view> low_precision_kernels();

/// C = A B with the values of A and B rounded to V (`Half`, `Bfloat16`, `Tf32`), to the nearest, of
/// two equally near numbers to the one with an even fraction. Products are exact in single
/// precision, and sums are in single precision. C is in single precision, or rounded to V once,
/// after all terms have been added.
///
/// A block in single or double precision is rounded first. Before the rounding, rows of A and
/// columns of B are scaled as `RangeScaling` says, and C is scaled back.
template <class V, class Ctx>
class LowPrecisionPlan;

template <class V>
class LowPrecisionPlan<V, HostContext> {
 public:
  /// Rounds A. Keeps nothing of A itself. Throws `InvalidArgument` as `row_exponents` and for a
  /// kernel other than "auto", and `OutOfMemory`.
  template <Scalar T>
  LowPrecisionPlan(HostContext& context, CsrView<T, HostSpace> A,
                   const LowPrecisionOptions& options = {});

  /// C = A B with B cols×N and C rows×N. The result has the same bits for every number of threads.
  /// Allocates for more columns than before. A plan serves one call at a time. Throws
  /// `InvalidArgument` if shapes do not fit, as `column_exponents`, and with the place of the first
  /// entry of C that single precision cannot hold.
  template <Scalar T>
  void multiply(HostContext& context, ConstBlockView<T, HostSpace> B,
                BlockView<float, HostSpace> C);

  /// C = α A B + β C + γ B + δ X for blocks in V with the same number of columns, C apart from B
  /// and X. Never allocates. Throws `InvalidArgument` if shapes do not fit or A is scaled.
  void multiply(HostContext& context, float alpha, ConstNarrowView<V, HostSpace> B,
                const NarrowTerms<V, HostSpace>& terms, NarrowView<V, HostSpace> C) const;

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
template <class V>
struct ShortBlock;
template <class V, class T>
struct Rounding;
template <class V>
class ShortMatrix;
struct ShortKernel;
}  // namespace detail

/// Products by one kernel of a table, most of them on tensor cores (`mma.sync`, compute capability
/// 8.0 and newer): m16n8k16 for `Half` and `Bfloat16`, m16n8k8 for `Tf32`, with A in blocks of
/// 16×16 and 16×8 entries. Sums of tensor cores cut off instead of rounding; `product_error` bounds
/// both. Results have the same bits in every run.
template <class V>
class LowPrecisionPlan<V, CudaContext> {
 public:
  /// A block's rows have 32 bytes.
  static constexpr BlockShape kShape{16, 32 / static_cast<Index>(sizeof(V))};

  /// Rounds A on the device, builds the format of the kernel there, and keeps nothing of A itself.
  /// "auto" and "measure" take no kernel whose format the host builds. Throws `InvalidArgument` as
  /// `row_exponents` and `check_order`, for an unknown kernel, and for one that does not take A,
  /// and `OutOfMemory`.
  template <Scalar T>
  LowPrecisionPlan(CudaContext& context, CsrView<T, DeviceSpace> A,
                   const LowPrecisionOptions& options = {});

  /// The same for an A in host memory, where all kernels are considered.
  template <Scalar T>
  LowPrecisionPlan(CudaContext& context, HostContext& host, CsrView<T, HostSpace> A,
                   const LowPrecisionOptions& options = {});

  /// C = A B, queued on the context's stream; B cols×N, C rows×N, any N. Allocates for more columns
  /// than before. NaN and Inf in B reach C. Entries that single precision cannot hold become
  /// infinite. Throws `InvalidArgument` if shapes do not fit.
  template <Scalar T>
  void multiply(CudaContext& context, ConstBlockView<T, DeviceSpace> B,
                BlockView<float, DeviceSpace> C);

  /// The same for a B that is in V already. It is not scaled, and it is read where it lies, by one
  /// kernel, if B.data() and B.ld()·sizeof(V) are multiples of 16 bytes and all B.ld() entries of
  /// each row can be read. Else it is copied first.
  void multiply(CudaContext& context, ConstBlockView<V, DeviceSpace> B,
                BlockView<float, DeviceSpace> C);

  /// C = α A B + β C + γ B + δ X for views of `NarrowBlock`s with the same number of columns, C
  /// apart from B and X, by one kernel. Throws `InvalidArgument` if shapes do not fit or A is
  /// scaled.
  void multiply(CudaContext& context, float alpha, ConstNarrowView<V, DeviceSpace> B,
                const NarrowTerms<V, DeviceSpace>& terms, NarrowView<V, DeviceSpace> C);

  LowPrecisionPlan(LowPrecisionPlan&&) noexcept;
  LowPrecisionPlan& operator=(LowPrecisionPlan&&) noexcept;
  ~LowPrecisionPlan();

  /// Its name in the table, and why it was chosen, in one sentence without a full stop.
  std::string_view kernel() const noexcept;
  const std::string& reason() const noexcept { return reason_; }

  /// Whether the kernel follows `LowPrecisionOptions::order`.
  bool follows_order() const noexcept;

  /// A row of A was scaled by 2^e with its e here.
  const std::vector<std::int32_t>& row_exponents() const noexcept { return host_row_exponents_; }

  /// The columns of B, of the last product. Waits for it.
  std::vector<std::int32_t> column_exponents(CudaContext& context) const;

 private:
  template <Scalar T>
  void set_matrix(CudaContext& context, HostContext& host, CsrView<T, DeviceSpace> A,
                  const RowPattern* pattern, const LowPrecisionOptions& options);
  void choose(CudaContext& context, HostContext& host, const CsrView<V, DeviceSpace>& A,
              const RowPattern* pattern, const LowPrecisionOptions& options);
  template <class T>
  detail::ShortBlock<V> rounded(CudaContext& context, ConstBlockView<T, DeviceSpace> B);
  void multiply_short(CudaContext& context, const detail::ShortBlock<V>& B,
                      BlockView<float, DeviceSpace> C);
  template <class T>
  void multiply_rounded(CudaContext& context, ConstBlockView<T, DeviceSpace> B,
                        BlockView<float, DeviceSpace> C);
  void count(CudaContext& context, Index columns, double block_bytes) const;

  RangeScaling scaling_;
  std::vector<std::int32_t> host_row_exponents_;
  RowPattern A_;  ///< its sizes alone
  const detail::ShortKernel* kernel_ = nullptr;
  std::string reason_;
  std::unique_ptr<detail::ShortMatrix<V>> matrix_;
  Buffer<std::int32_t, DeviceSpace> row_exponents_;
  Index columns_of_B_ = 0;
  bool scaled_ = false;  ///< whether the last B was
  Buffer<std::int32_t, DeviceSpace> column_exponents_;
  Buffer<std::int32_t, DeviceSpace> largest_exponents_;
  Buffer<V, DeviceSpace> B_;                      ///< rounded, padded with zeros
  Buffer<unsigned, DeviceSpace> arrived_blocks_;  ///< counters, 0 between products
};

}  // namespace heddle
