#pragma once

#include <concepts>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/linalg/precision/narrow_float.hpp>
#include <type_traits>

/// Blocks of a short number type V (`Half`, `Bfloat16`, `Tf32`), for recurrences whose vectors stay
/// in V between products. They move fewer bytes, also on processors without tensor cores.
namespace heddle {

/// How a number of V is stored. The host stores it as a float with the value of a V: its processors
/// have no arithmetic with V, so that shorter numbers would save nothing.
template <class V, class Space>
using NarrowStored = std::conditional_t<std::same_as<Space, HostSpace>, float, V>;

/// A read-only block of numbers of type V, as it is stored in `Space`.
template <class V, class Space>
using ConstNarrowView = ConstBlockView<NarrowStored<V, Space>, Space>;
/// A writable block of numbers of type V, as it is stored in `Space`.
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
  float beta = 0;                    ///< β, for the old values of C
  float gamma = 0;                   ///< γ, for B'
  float delta = 0;                   ///< δ, for X
  ConstNarrowView<V, Space> X = {};  ///< the block X
};

}  // namespace heddle
