#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <string>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/gpu_share.hpp>
#endif

namespace heddle {
namespace {

#ifdef HEDDLE_HAS_CUDA
int gpus_present() { return detail::gpu_count(); }
std::string no_gpu_reason() { return cuda_unavailable_reason(0); }
#else
int gpus_present() { return 0; }
std::string no_gpu_reason() { return "this build has no CUDA"; }
#endif

/// The GPUs of one process that a request asks for. 1 also stands for none.
int gpus_asked(const Request& request) {
  if (request.devices == 1) return 1;
  if (request.device == DeviceChoice::host) {
    if (request.devices == 0) return 1;
    throw RequestError("devices",
                       fmt::format(": {} GPUs were asked for with device: host", request.devices));
  }
  const int present = gpus_present();
  if (request.devices <= present)
    return std::max(request.devices == 0 ? present : request.devices, 1);
  throw DeviceError(fmt::format("devices: {} GPUs were asked for, {} present: {}", request.devices,
                                present, present == 0 ? no_gpu_reason() : "take devices: all"));
}

}  // namespace

Device device_for(const Request& request, const std::shared_ptr<Processes>& processes) {
  if (processes && request.devices > 1) {
    throw RequestError("devices", fmt::format(": {} GPUs were asked for, but a launcher started {} "
                                              "processes, and each has one: take devices: 1",
                                              request.devices, processes->size()));
  }
  const int gpus = processes ? 1 : gpus_asked(request);
  if (gpus == 1) return Device(request.device, request.threads, processes);
  return {DeviceChoice::cuda, request.threads, detail::followers(gpus)};
}

}  // namespace heddle
