#pragma once

#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/model/reuse_curve.hpp>
#include <optional>

namespace heddle::detail {

/// A product to predict: C = A B with N columns of values of `scalar_bytes` bytes.
struct ProductShape {
  const MatrixFeatures& A;
  const ReuseCurve& reuse;
  double N;
  double scalar_bytes;
  double value_bytes;  ///< of A's values as most kernels store them
  const DeviceSpeed& device;
};

inline ProductShape shape_of(const MatrixFeatures& A, const ReuseCurve& reuse, Index N,
                             std::size_t scalar_bytes, const DeviceSpeed& device) noexcept {
  const bool narrow = A.values_are_floats && scalar_bytes <= sizeof(double);
  const std::size_t value_bytes = narrow ? sizeof(float) : scalar_bytes;
  return {A,
          reuse,
          static_cast<double>(N),
          static_cast<double>(scalar_bytes),
          static_cast<double>(value_bytes),
          device};
}

/// What a kernel does for one product, in the units of the hardware's parts. A part of the
/// hardware that is busy sets a lower bound of the time.
struct KernelWork {
  double storage_bytes = 0;      ///< A in the kernel's own format, read once
  double memory_bytes = 0;       ///< between device memory and the second-level cache
  double l2_bytes = 0;           ///< between the second-level cache and the multiprocessors
  double wavefronts = 0;         ///< of 128 bytes or of cache lines, in L1 and shared memory
  double instructions = 0;       ///< issued to warps
  double tensor_cycles = 0;      ///< of a multiprocessor, in its tensor cores
  double waves = 1;              ///< how often the device is filled with warps
  double chain = 0;              ///< dependent loads of an average warp
  double warp_instructions = 0;  ///< of an average warp
  double tail = 0;               ///< the longest chain of dependent loads
  double launches = 1;
};

/// What a kernel does for a product. Empty if the kernel does not apply to the matrix.
using CountWork = std::optional<KernelWork> (*)(const ProductShape& product);

std::optional<KernelWork> row_split_work(const ProductShape& product);
std::optional<KernelWork> row_parallel_work(const ProductShape& product);
std::optional<KernelWork> row_cached_work(const ProductShape& product);
std::optional<KernelWork> row_broadcast_work(const ProductShape& product);
std::optional<KernelWork> merge_work(const ProductShape& product);
std::optional<KernelWork> merge_path_work(const ProductShape& product);
std::optional<KernelWork> nonzero_parallel_work(const ProductShape& product);
std::optional<KernelWork> narrow_merge_work(const ProductShape& product);
std::optional<KernelWork> panel_mma_work(const ProductShape& product);
std::optional<KernelWork> staged_work(const ProductShape& product);
std::optional<KernelWork> staged_mma_work(const ProductShape& product);
std::optional<KernelWork> node_block_work(const ProductShape& product);

}  // namespace heddle::detail
