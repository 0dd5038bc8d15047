#pragma once

#include <heddle/linalg/context/device_sizes.hpp>

namespace heddle {

class CudaContext;

/// What the model of product times knows about a GPU. The defaults are those of an NVIDIA H200, so
/// that products can be predicted without a GPU.
struct DeviceSpeed : DeviceSizes {
  double clock = 1.98e9;           ///< cycles per second of a multiprocessor
  double memory_bytes = 4.8e12;    ///< that device memory moves per second
  double l2_bytes = 60 * 1048576;  ///< size of the second-level cache
};

/// The numbers that the driver states for the context's GPU.
DeviceSpeed device_speed(const CudaContext& context);

}  // namespace heddle
