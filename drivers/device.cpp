#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <heddle/apps/device.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/spmm.hpp>
#include <vector>

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

void check_kernel(Device& device, const Config& config) {
  const std::string& asked = config.spmm.kernel;
  std::vector<std::string_view> known = spmm_choices();
  device.with_context([&known](const auto& context) {
    const auto& kernels = spmm_kernels(context);
    known.insert(known.end(), kernels.begin(), kernels.end());
  });
  if (std::find(known.begin(), known.end(), asked) != known.end()) return;
  throw ConfigError(origin_of(config, "spmm.kernel"),
                    fmt::format("spmm.kernel: {} is not known on {}; known: {}", asked,
                                device.is_host() ? "the host" : "the GPU", fmt::join(known, ", ")));
}

}  // namespace heddle::apps
