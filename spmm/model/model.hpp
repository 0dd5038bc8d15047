#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/features/features.hpp>
#include <string_view>
#include <vector>

/// The time of a product C = A B on a GPU, predicted from the features of A, for every kernel.
namespace heddle {

/// The speeds of a GPU on which the model of product times is based. The defaults are those of an
/// NVIDIA H200, so that products can be predicted without a GPU.
struct DeviceSpeed : DeviceSizes {
  double clock = 1.98e9;           ///< cycles per second of a multiprocessor
  double memory_bytes = 4.8e12;    ///< that device memory moves per second
  double l2_bytes = 60 * 1048576;  ///< size of the second-level cache
};

/// The numbers that the driver states for the context's GPU.
DeviceSpeed device_speed(const CudaContext& context);

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

/// The model's prediction for a kernel.
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
/// `scalar_bytes` bytes per value, 16 of complex numbers. A kernel is predicted for these also if
/// it takes real matrices only. Empty without entries or columns. Uses the features that a plan
/// on a GPU computes, and gives the same numbers for the same features and device every time.
///
/// Source: Hidayetoglu et al., tiled SpMM (equations 3, 4 and 6, for blocks by columns in fp32 and
/// device memory alone), extended to blocks by rows, to caches, instructions and latency. How a
/// kernel's work is counted and its constants were fitted: docs/methods/spmm.md.
std::vector<KernelPrediction> predict_kernels(const MatrixFeatures& A, Index N,
                                              std::size_t scalar_bytes, const DeviceSpeed& device);

/// The work of a kernel for a product in seconds at the nominal speed of a GPU, before the
/// efficiencies of the kernel, which are fitted to such terms and measured times.
struct KernelTerms {
  std::string_view kernel;   ///< of static storage duration
  double memory = 0;         ///< traffic of the memory of the device
  double l2 = 0;             ///< traffic of the L2 cache
  double l1 = 0;             ///< traffic of the L1 caches
  double issue = 0;          ///< instructions of all warps
  double tensor = 0;         ///< work of the tensor cores
  double loads = 0;          ///< the chain of loads of a warp
  double instructions = 0;   ///< the instructions of a warp, one after the other
  double waves = 1;          ///< of warps
  double tail = 0;           ///< the longest chain of loads
  double launch = 0;         ///< of the kernel
  double storage_bytes = 0;  ///< A in the kernel's own format
};

/// The terms of the kernels that have a model and apply to A, in the order of the models.
std::vector<KernelTerms> kernel_terms(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                                      const DeviceSpeed& device);

/// The factor, as a power of two, within which 97 of 100 predictions for kernels near the fastest
/// lie of what was measured.
inline constexpr double kModelError = 0.65;

/// Seconds of a dense block on tensor cores, at the nominal speed of a GPU, T_e of SMaT's model
/// T = T_e n_e + T_init for n_e blocks: the slowest of reading it from memory, of moving it and the
/// rows of B that it meets to a multiprocessor, and of multiplying it by N columns. Values take
/// `value_bytes`. With `gathered`, the rows of B are not neighbours: each takes whole sectors of 32
/// bytes, and an index.
double nominal_block_seconds(Index height, Index width, Index N, std::size_t value_bytes,
                             bool gathered, const DeviceSpeed& device) noexcept;

}  // namespace heddle
