#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <heddle/drivers/device.hpp>
#include <heddle/drivers/followers.hpp>
#include <heddle/drivers/order.hpp>
#include <heddle/linalg/base/available_memory.hpp>
#include <heddle/spmm/spmm.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/gpu_share.hpp>
#endif

namespace heddle {
namespace {

/// The reason why `problem` must be solved on the host. Empty if it can be moved to a GPU.
std::string host_reason(const Problem& problem) {
  const std::string_view part = detail::callable_part(problem);
  return part.empty() ? "" : fmt::format("{} is a callable on host blocks", part);
}

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
      detail::send_order(
          *processes, {.duty = detail::Order::Duty::device, .device = choice, .threads = threads});
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
    detail::send_order(*processes,
                       {.duty = detail::Order::Duty::device, .device = choice, .threads = share});
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

Device::Device(const Request& request, const Problem& problem)
    : Device(detail::callable_part(problem).empty() ? request.device : DeviceChoice::host,
             request.threads) {
  const std::string reason = host_reason(problem);
  if (reason.empty()) return;
  if (request.device == DeviceChoice::cuda) {
    throw RequestError("device", ": cuda cannot be used: " + reason);
  }
  if (request.device == DeviceChoice::automatic) note_ = "auto: " + reason;
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

double host_memory_bytes() {
  // The options of one solve ask several times within milliseconds. To answer, some 14 files of the
  // system are read, and the answer changes only with what other processes use.
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kHolds(10);
  static std::mutex asking;
  static double bytes = 0;
  static Clock::time_point outdated;
  const std::lock_guard lock(asking);
  if (const Clock::time_point now = Clock::now(); now >= outdated) {
    bytes = available_memory().bytes;
    outdated = now + kHolds;
  }
  return bytes;
}

double memory_bytes(const HostContext&) { return host_memory_bytes(); }

double factor_budget(double memory, double unused, double solver) noexcept {
  return std::max(0.0, std::min(kFactorShare * memory, unused - solver));
}

double unused_bytes(const HostContext& context) {
  return available_memory().unused + static_cast<double>(context.kept_bytes());
}

#ifdef HEDDLE_HAS_CUDA
double memory_bytes(const CudaContext& context) {
  return static_cast<double>(context.free_bytes());
}

double unused_bytes(const CudaContext& context) { return memory_bytes(context); }
#endif

std::string_view callable_part(const Problem& problem) {
  const auto is_callable = [](const std::optional<Matrix>& matrix) {
    return matrix && !matrix->is_stored();
  };
  if (!problem.A.is_stored()) return "A";
  if (is_callable(problem.B)) return "B";
  if (is_callable(problem.A_transposed)) return "A_transposed";
  return is_callable(problem.preconditioner) ? "preconditioner" : "";
}

void check_kernel(Device& device, const Request& request) {
  const std::string& asked = request.spmm.kernel;
  std::vector<std::string_view> known = spmm_choices();
  device.with_context([&known](const auto& context) {
    const auto& kernels = spmm_kernels(context);
    known.insert(known.end(), kernels.begin(), kernels.end());
  });
  if (std::find(known.begin(), known.end(), asked) != known.end()) return;
  throw RequestError("spmm.kernel", fmt::format(": {} is not known on {}; known: {}", asked,
                                                device.is_host() ? "the host" : "the GPU",
                                                fmt::join(known, ", ")));
}

}  // namespace detail
}  // namespace heddle
