#include <cuda_runtime_api.h>

#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/model/model.hpp>
#include <map>
#include <mutex>

namespace heddle {
namespace {

double attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

DeviceSpeed query_speed(const CudaDevice& device) {
  constexpr double kKilohertz = 1e3;
  constexpr double kTransfersPerCycle = 2;
  constexpr double kBits = 8;
  DeviceSpeed speed;
  static_cast<DeviceSizes&>(speed) = device;
  speed.clock = kKilohertz * attribute(cudaDevAttrClockRate, device.ordinal);
  speed.memory_bytes = kTransfersPerCycle * kKilohertz *
                       attribute(cudaDevAttrMemoryClockRate, device.ordinal) *
                       attribute(cudaDevAttrGlobalMemoryBusWidth, device.ordinal) / kBits;
  speed.l2_bytes = static_cast<double>(device.l2_bytes);
  return speed;
}

}  // namespace

DeviceSpeed device_speed(const CudaContext& context) {
  // The driver takes about a millisecond to tell clock rates, longer than the rest of a plan.
  static std::mutex mutex;
  static std::map<int, DeviceSpeed> known;  // by the device's number
  const CudaDevice& device = context.device();
  const std::scoped_lock lock(mutex);
  const auto found = known.find(device.ordinal);
  return found != known.end() ? found->second
                              : known.emplace(device.ordinal, query_speed(device)).first->second;
}

}  // namespace heddle
