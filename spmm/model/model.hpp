#pragma once

#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/model/device_speed.hpp>
#include <string_view>
#include <vector>

/// The time of a product C = A B on a GPU, predicted from the features of A, for every kernel.
namespace heddle {

/// The shortest times in which the parts of a GPU could do their work for a product, in seconds.
struct ProductTimes {
  double memory = 0;   ///< device memory moves what the second-level cache does not hold
  double l2 = 0;       ///< the second-level cache and the multiprocessors exchange bytes
  double l1 = 0;       ///< first-level caches and shared memory are read
  double issue = 0;    ///< instructions are issued
  double tensor = 0;   ///< tensor cores multiply
  double latency = 0;  ///< chains of dependent loads, as many at a time as the device holds warps
  double tail = 0;     ///< the longest such chain
  double launch = 0;   ///< launches, one after the other
};

/// What the model says of a kernel.
struct KernelPrediction {
  std::string_view kernel;   ///< of static storage duration
  double seconds = 0;        ///< of one product, when products are repeated
  ProductTimes times;        ///< each with the kernel's efficiency
  double storage_bytes = 0;  ///< A in the kernel's own format
  double memory_bytes = 0;   ///< that the product moves between device memory and the caches
  double l2_bytes = 0;       ///< that it moves between the second-level cache and multiprocessors

  /// The part of the GPU that takes longest, as one word.
  std::string_view bound_by() const noexcept;
};

/// The predictions for the kernels that have a model and apply to A, the fastest first. N columns,
/// `scalar_bytes` bytes per value. Empty without entries or columns. Uses the features that a plan
/// on a GPU computes, and gives the same numbers for the same features and device every time.
///
/// Source: Hidayetoglu et al., tiled SpMM (equations 3, 4 and 6, for blocks by columns in fp32 and
/// device memory alone), extended to blocks by rows, to caches, instructions and latency. How a
/// kernel's work is counted and its constants were fitted: docs/methods/spmm.md.
std::vector<KernelPrediction> predict_kernels(const MatrixFeatures& A, Index N,
                                              std::size_t scalar_bytes, const DeviceSpeed& device);

/// The factor, as a power of two, within which 97 of 100 predictions for kernels near the fastest
/// lie of what was measured.
inline constexpr double kModelError = 0.65;

}  // namespace heddle
