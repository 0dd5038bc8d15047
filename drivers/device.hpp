#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <heddle/linalg/context/context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif

/// The one place where the context of a solve is chosen.
namespace heddle {

/// The device that a solve runs on, and the host beside it that holds problems and solutions.
class Device {
 public:
  /// `choice`: `automatic` takes a GPU where one can be used, else the host. `threads`: of the
  /// host, 0: as many as OpenMP offers. Throws `DeviceError` with the reason if a GPU was asked for
  /// and none can be used.
  explicit Device(DeviceChoice choice = DeviceChoice::automatic, int threads = 0);

  /// What `request` asks for. A problem with a callable is solved on the host: throws
  /// `RequestError` if a GPU was asked for.
  Device(const Request& request, const Problem& problem);

  bool is_host() const noexcept { return context_.index() == 0; }
  std::string_view kind() const noexcept { return is_host() ? "host" : "cuda"; }
  const std::string& name() const noexcept { return name_; }  ///< "NVIDIA H200"; empty for the host
  const std::string& note() const noexcept { return note_; }  ///< why, where that needs saying

  HostContext& host() noexcept { return *host_; }
  std::shared_ptr<const HostContext> shared_host() const noexcept { return host_; }

  /// Bytes that a solve may have: of a GPU those free now, of the host all that it was built with.
  double memory_bytes() const;

  /// body(context) with the context of the device, a `HostContext` or a `CudaContext`.
  template <class Body>
  decltype(auto) with_context(Body&& body) {
    return std::visit([&](auto& context) -> decltype(auto) { return body(*context); }, context_);
  }

 private:
  /// A context of a kind that this build has. That of the host is owned by `host_`.
#ifdef HEDDLE_HAS_CUDA
  using AnyContext = std::variant<HostContext*, std::unique_ptr<CudaContext>>;
#else
  using AnyContext = std::variant<HostContext*>;
#endif

  void take_gpu();

  std::shared_ptr<HostContext> host_;
  AnyContext context_;
  std::string name_;
  std::string note_;
};

namespace detail {

/// Bytes of memory that this machine was built with.
double host_memory_bytes();

/// Bytes that a solve in `context` may have, as `Device::memory_bytes`.
double memory_bytes(const HostContext& context);
#ifdef HEDDLE_HAS_CUDA
double memory_bytes(const CudaContext& context);
#endif

/// The part of `problem` that is a callable on host blocks, as "A" or "B"; empty if none is.
std::string_view callable_part(const Problem& problem);

/// Throws `RequestError` with the kernels that there are if `request.spmm.kernel` is none that the
/// device has.
void check_kernel(Device& device, const Request& request);

}  // namespace detail
}  // namespace heddle
