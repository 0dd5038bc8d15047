#pragma once

#include <concepts>
#include <cstdint>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <string_view>
#include <type_traits>

/// Products of which the matrix and all blocks are stored in a short number type V (`Half`,
/// `Bfloat16`, `Tf32`), with sums in single precision. They move fewer bytes, also on processors
/// without tensor cores, and serve recurrences whose vectors stay in V between the products.
namespace heddle {

/// The name of V in requests and messages.
template <class V>
constexpr std::string_view narrow_name() {
  if constexpr (std::same_as<V, Half>) return "half";
  if constexpr (std::same_as<V, Bfloat16>) return "bf16";
  return "tf32";
}

/// How a number of V is stored. The host stores it as a float with the value of a V: its processors
/// have no arithmetic with V, so that shorter numbers would save nothing.
template <class V, class Space>
using NarrowStored = std::conditional_t<std::same_as<Space, HostSpace>, float, V>;

template <class V, class Space>
using ConstNarrowView = ConstBlockView<NarrowStored<V, Space>, Space>;
template <class V, class Space>
using NarrowView = BlockView<NarrowStored<V, Space>, Space>;

/// Owns an n×b block of numbers of V, row-major, uninitialised. The context must outlive it.
template <class V, class Space>
class NarrowBlock {
 public:
  using ContextType = typename ContextOf<Space>::type;

  NarrowBlock() = default;

  /// Throws `OutOfMemory`.
  NarrowBlock(ContextType& context, Index rows, Index columns)
      : values_(context, static_cast<std::size_t>(rows * padded_columns(columns))),
        rows_(rows),
        pitch_(padded_columns(columns)) {}

  /// A view of the first columns, `count` rounded up to whole 16 bytes per row on a GPU.
  NarrowView<V, Space> columns(Index count) noexcept {
    return {values_.data(), rows_, padded_columns(count), pitch_};
  }

 private:
  static constexpr Index kUnit = std::same_as<Space, HostSpace> ? 1 : 16 / sizeof(V);
  static constexpr Index padded_columns(Index columns) noexcept {
    return (columns + kUnit - 1) / kUnit * kUnit;
  }

  Buffer<NarrowStored<V, Space>, Space> values_;
  Index rows_ = 0;
  Index pitch_ = 0;
};

/// y_j = factors(j, 0)·x_j rounded to V (X n×b in float, factors b×1, Y a view of at least b
/// columns of a `NarrowBlock`, whose further columns become 0). Numbers beyond the range of V
/// become infinite.
template <class V>
void narrow(HostContext& context, ConstBlockView<float, HostSpace> X,
            ConstSmallView<double, HostSpace> factors, NarrowView<V, HostSpace> Y);
template <class V>
void narrow(CudaContext& context, ConstBlockView<float, DeviceSpace> X,
            ConstSmallView<double, DeviceSpace> factors, NarrowView<V, DeviceSpace> Y);

/// y_j = β y_j + factors(j, 0)·x_j (Y n×b in float, factors b×1, X at least b columns). With β = 0,
/// Y is not read.
template <class V>
void widen(HostContext& context, ConstNarrowView<V, HostSpace> X,
           ConstSmallView<double, HostSpace> factors, float beta, BlockView<float, HostSpace> Y);
template <class V>
void widen(CudaContext& context, ConstNarrowView<V, DeviceSpace> X,
           ConstSmallView<double, DeviceSpace> factors, float beta,
           BlockView<float, DeviceSpace> Y);

/// The terms that a product adds to α A B, as those of `SpmmEpilogue`: C = α A B + β C + γ B + δ X.
/// A term whose coefficient is 0 is not read.
template <class V, class Space>
struct NarrowTerms {
  float beta = 0;
  float gamma = 0;
  float delta = 0;
  ConstNarrowView<V, Space> X = {};
};

/// Multiplies by a matrix whose values were rounded to V, the nearest, of two equally near numbers
/// the one with an even fraction. A row is summed in single precision and rounded to V once, after
/// all terms have been added. Sums have the same bits in every run.
template <class V, class Ctx>
class NarrowPlan;

template <class V>
class NarrowPlan<V, HostContext> {
 public:
  /// Rounds factor·A and keeps nothing of A. Throws `InvalidArgument` with
  /// the place of the first entry that is not finite after rounding, and `OutOfMemory`.
  template <Scalar T>
  NarrowPlan(HostContext& context, CsrView<T, HostSpace> A, double factor = 1);

  /// C = α A B + β C + γ B + δ X, all blocks with the same number of columns, C apart from B and X.
  /// Never allocates. Throws `InvalidArgument` if shapes do not fit.
  void multiply(HostContext& context, float alpha, ConstNarrowView<V, HostSpace> B,
                const NarrowTerms<V, HostSpace>& terms, NarrowView<V, HostSpace> C) const;

 private:
  HostCsrMatrix<float> A_;
  SpmmPlan<float, HostContext> plan_;
};

/// A thread computes 16 bytes of a row of C. Where all rows come in groups of up to four that have
/// entries in the same columns, as the unknowns of a node have, it computes those of a group. Rows
/// of more than `kLongRow` entries are summed by a thread block each.
template <class V>
class NarrowPlan<V, CudaContext> {
 public:
  static constexpr Index kLongRow = 512;

  /// As on the host.
  template <Scalar T>
  NarrowPlan(CudaContext& context, CsrView<T, DeviceSpace> A, double factor = 1);

  /// As on the host; queued on the context's stream.
  void multiply(CudaContext& context, float alpha, ConstNarrowView<V, DeviceSpace> B,
                const NarrowTerms<V, DeviceSpace>& terms, NarrowView<V, DeviceSpace> C) const;

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  Index nnz_ = 0;
  int rows_at_once_ = 1;  // rows of a group
  Buffer<std::int64_t, DeviceSpace> row_offsets_;
  Buffer<std::int32_t, DeviceSpace> columns_;
  Buffer<V, DeviceSpace> values_;
  Buffer<std::int32_t, DeviceSpace> long_rows_;
};

}  // namespace heddle
