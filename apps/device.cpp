#include <unistd.h>

#include <heddle/apps/device.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/linalg/error.hpp>

namespace heddle::apps {
namespace {

#ifdef HEDDLE_HAS_CUDA
/// Makes `context` that of the first GPU, and returns its name. Throws `DeviceError` if it cannot
/// be used.
std::string take_gpu(AnyContext& context) {
  auto gpu = std::make_unique<CudaContext>();
  std::string name = gpu->device().name;
  context = std::move(gpu);
  return name;
}
#else
std::string take_gpu(AnyContext&) { throw DeviceError("this build has no CUDA"); }
#endif

}  // namespace

double host_memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double memory_bytes(const HostContext&) { return host_memory_bytes(); }

#ifdef HEDDLE_HAS_CUDA
double memory_bytes(const CudaContext& context) {
  return static_cast<double>(context.free_bytes());
}
#endif

Device::Device(const Config& config)
    : host_(std::make_unique<HostContext>(config.threads)), context_(host_.get()) {
  if (config.device == DeviceChoice::host) return;
  try {
    name_ = take_gpu(context_);
  } catch (const DeviceError& error) {
    if (config.device == DeviceChoice::cuda) {
      throw DeviceError(origin_of(config, "device").describe() +
                        ": device: cuda cannot be used: " + error.what());
    }
    note_ = std::string("auto: ") + error.what();
  }
}

double Device::memory_bytes() const {
  return std::visit([](const auto& context) { return apps::memory_bytes(*context); }, context_);
}

}  // namespace heddle::apps
