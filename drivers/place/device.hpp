#pragma once

#include <functional>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif

/// The device of a solve. Only this header chooses between the host and a GPU.
namespace heddle {
namespace detail {

class Followers;
struct Machine;

/// Makes the device of `context` current as long as the result lives.
inline std::monostate made_current(const HostContext&) { return {}; }
#ifdef HEDDLE_HAS_CUDA
inline CurrentGpu made_current(const CudaContext& context) {
  return CurrentGpu(context.device().ordinal);
}
#endif

}  // namespace detail

/// The device that a solve runs on, and the context of the host memory that holds problems and
/// solutions.
class Device {
 public:
  /// With `choice` = `automatic`, the device is a GPU if one can be used, else the host. `threads`
  /// is the number of host threads, 0 for the default of `HostContext`. Throws `DeviceError` with
  /// the reason if `choice` is a GPU and none can be used.
  ///
  /// `processes`: the processes that solve together, as `started_processes` gives them. Each takes
  /// a GPU of its own, or all of them take the host. By default, they share the threads of their
  /// machine. Process 0 makes a device while all others are in `serve`. Null: this process alone.
  ///
  /// `gpu` is the number of the GPU of a process alone, counted from 0.
  explicit Device(DeviceChoice choice = DeviceChoice::automatic, int threads = 0,
                  const std::shared_ptr<Processes>& processes = nullptr, int gpu = 0);

  /// The device of this thread and of threads that follow it. With `choice` = `cuda`, each has a
  /// GPU of its own.
  Device(DeviceChoice choice, int threads, std::shared_ptr<detail::Followers> followers);

  /// Whether the solves run on the host.
  bool is_host() const noexcept { return context_.index() == 0; }
  /// The kind of device, as in `Solution::device`: "host" or "cuda".
  std::string_view kind() const noexcept { return is_host() ? "host" : "cuda"; }
  const std::string& name() const noexcept {
    return name_;
  }  ///< such as "NVIDIA H200". Empty for the host
  const std::string& note() const noexcept {
    return note_;
  }  ///< why `automatic` chose the host, else empty

  /// The number of GPUs that this process solves on, 0 on the host.
  int gpus() const noexcept { return is_host() ? 0 : followers_ ? processes() : 1; }

  /// The number of processes, or of threads in their place, that solve together.
  int processes() const noexcept { return team_ ? team_->processes()->size() : 1; }

  /// The context for whole problems and solutions.
  HostContext& host() noexcept { return *host_; }

  /// The context of host memory for the rows of this process, which is `host()` of one process.
  HostContext& team() noexcept { return team_ ? *team_ : *host_; }
  std::shared_ptr<HostContext> shared_host() const noexcept { return host_; }
  std::shared_ptr<const HostContext> shared_team() const noexcept { return team_; }

  /// Bytes of device memory that a solve may use. For a GPU, this is the memory that is free now.
  /// For the host, see `detail::host_memory_bytes`.
  double memory_bytes() const;

  /// Runs `body`, in which all processes solve together. If they are threads and one of them fails,
  /// all end, the exception of the first is thrown, and the device cannot be used any more. The
  /// failure of a process leaves the others waiting.
  void together(const std::function<void()>& body);

  /// Calls body(context) with the context of the device, a `HostContext` or a `CudaContext`, whose
  /// GPU is the current one meanwhile.
  template <class Body>
  decltype(auto) with_context(Body&& body) {
    return std::visit(
        [&](auto& context) -> decltype(auto) {
          [[maybe_unused]] const auto current = detail::made_current(*context);
          return body(*context);
        },
        context_);
  }

 private:
  /// A context of one of the kinds that this build supports. The host's context is owned by
  /// `team_` or, of one process, by `host_`.
#ifdef HEDDLE_HAS_CUDA
  using AnyContext = std::variant<HostContext*, std::unique_ptr<CudaContext>>;
#else
  using AnyContext = std::variant<HostContext*>;
#endif

  /// Takes the device that is chosen.
  void take(DeviceChoice choice, const std::shared_ptr<Processes>& processes, int gpu);

  /// Makes a GPU the device: that of the number `ordinal` or, of several processes, the one that
  /// each of them has for itself. Returns the reason if none can be used, which is the same on all
  /// processes.
  std::string take_gpu(const std::shared_ptr<Processes>& processes, int ordinal);

  std::shared_ptr<detail::Followers> followers_;  // null: none. They end after the contexts
  std::shared_ptr<HostContext> host_;
  std::shared_ptr<HostContext> team_;  // of several processes, else null
  AnyContext context_;
  std::string name_;
  std::string note_;
};

namespace detail {

/// The facts about `device` that a plan depends on.
Machine machine_of(Device& device);

}  // namespace detail
}  // namespace heddle
