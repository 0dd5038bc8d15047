#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/low_precision/sliced_product.hpp>

namespace heddle::detail {

/// A in slices of rows, in device memory. Its values must be numbers of V.
template <class V>
class SlicedMatrix final : public ShortMatrix<V> {
 public:
  /// Whether 16 bytes of `rows_of_B` rows have room in the shared memory of a thread block.
  static bool stages(const CudaContext& context, Index rows_of_B) noexcept;

  /// `staged`: thread blocks keep B in shared memory, and take any rows. Else they take
  /// neighbouring ones, and read B through the caches. Throws `OutOfMemory`.
  SlicedMatrix(CudaContext& context, HostContext& host, const CsrView<float, HostSpace>& A,
               bool staged);

  double bytes() const noexcept override;
  void multiply(CudaContext& context, const ShortBlock<V>& B, const ScaledBlock& C) override {
    run(context, B, C);
  }
  void multiply(CudaContext& context, const ShortBlock<V>& B, const StepBlock<V>& C) override {
    run(context, B, C);
  }

 private:
  template <class Result>
  void run(CudaContext& context, const ShortBlock<V>& B, const Result& C) const;

  Index thread_blocks_ = 0;
  std::int32_t most_slots_ = 0;
  Buffer<SliceShare, DeviceSpace> shares_;
  Buffer<RowSlice, DeviceSpace> slices_;
  Buffer<std::int32_t, DeviceSpace> targets_;
  Buffer<CutRow, DeviceSpace> cut_rows_;
  Buffer<std::int32_t, DeviceSpace> columns_;       ///< empty if B is staged
  Buffer<std::uint16_t, DeviceSpace> staged_rows_;  ///< empty if B is not staged
  Buffer<V, DeviceSpace> values_;
};

}  // namespace heddle::detail
