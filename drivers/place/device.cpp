#include <fmt/format.h>

#include <algorithm>
#include <heddle/drivers/place/device.hpp>
#include <heddle/drivers/plan/machine.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/team/command.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/spmm/spmm.hpp>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/gpu_share.hpp>
#endif

namespace heddle {
namespace {

/// The threads of one of several processes: `threads`, or if that is 0, those that it may use, up
/// to its share of the machine.
int shared_threads(int threads, const Processes& processes) {
  if (threads != 0) return threads;
  const int share =
      static_cast<int>(std::thread::hardware_concurrency()) / processes.on_this_machine();
  return std::clamp(share, 1, HostContext().threads());
}

}  // namespace

#ifdef HEDDLE_HAS_CUDA
std::string Device::take_gpu(const std::shared_ptr<Processes>& processes, int ordinal) {
  if (processes) {
    const detail::GpuShare share = detail::share_gpus(*processes);
    if (!share.refusal.empty()) return share.refusal;
    ordinal = share.device;
  }
  try {
    const CurrentGpu current(ordinal);  // also where the constructor makes it current and throws
    auto gpu = std::make_unique<CudaContext>(ordinal, processes);
    name_ = gpu->device().name;
    context_ = std::move(gpu);
    return {};
  } catch (const DeviceError& error) {
    if (processes) throw;  // the other processes would wait for this one
    return error.what();
  }
}
#else
std::string Device::take_gpu(const std::shared_ptr<Processes>&, int) {
  return "this build has no CUDA";
}
#endif

Device::Device(DeviceChoice choice, int threads, const std::shared_ptr<Processes>& processes,
               int gpu)
    : host_(
          std::make_shared<HostContext>(processes ? shared_threads(threads, *processes) : threads)),
      context_(host_.get()) {
  if (processes) {
    if (processes->leads()) {
      detail::send_command(
          *processes,
          {.duty = detail::Command::Duty::device, .device = choice, .threads = threads});
    }
    team_ = std::make_shared<HostContext>(host_->threads(), processes);
    context_ = team_.get();
  }
  take(choice, processes, gpu);
}

Device::Device(DeviceChoice choice, int threads, std::shared_ptr<detail::Followers> followers)
    : followers_(std::move(followers)),
      host_(std::make_shared<HostContext>(threads)),
      context_(host_.get()) {
  const std::shared_ptr<Processes>& processes = followers_->leader();
  const int share = std::max(1, host_->threads() / processes->size());
  followers_->together([&] {
    detail::send_command(
        *processes, {.duty = detail::Command::Duty::device, .device = choice, .threads = share});
    team_ = std::make_shared<HostContext>(share, processes);
    context_ = team_.get();
    take(choice, processes, 0);
  });
}

void Device::take(DeviceChoice choice, const std::shared_ptr<Processes>& processes, int gpu) {
  if (choice == DeviceChoice::host) return;
  const std::string refusal = take_gpu(processes, gpu);
  if (refusal.empty()) return;
  if (choice == DeviceChoice::cuda) throw DeviceError("device: cuda cannot be used: " + refusal);
  note_ = "auto: " + refusal;
}

void Device::together(const std::function<void()>& body) {
  if (followers_) return followers_->together(body);
  body();
}

double Device::memory_bytes() const {
  return std::visit(
      [](const auto& context) {
        [[maybe_unused]] const auto current = detail::made_current(*context);
        return detail::memory_bytes(*context);
      },
      context_);
}

namespace detail {

Machine machine_of(Device& device) {
  Machine machine{.on_gpu = !device.is_host(),
                  .name = device.name(),
                  .memory_bytes = device.is_host() ? 0 : device.memory_bytes(),
                  .processes = device.processes(),
                  .kernels = spmm_choices()};
  device.with_context([&](auto& context) {
    const auto& kernels = spmm_kernels(context);
    machine.kernels.insert(machine.kernels.end(), kernels.begin(), kernels.end());
#ifdef HEDDLE_HAS_CUDA
    if constexpr (std::same_as<std::remove_reference_t<decltype(context)>, CudaContext>) {
      machine.gpu = device_speed(context);
    }
#endif
  });
  return machine;
}

}  // namespace detail
}  // namespace heddle
