#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

/// The one place where a run's context is chosen.
namespace heddle::apps {

/// A context of a kind that this build has. The host's is owned elsewhere.
#ifdef HEDDLE_HAS_CUDA
using AnyContext = std::variant<HostContext*, std::unique_ptr<CudaContext>>;
#else
using AnyContext = std::variant<HostContext*>;
#endif

/// Bytes of memory that this machine was built with.
double host_memory_bytes();

/// Bytes that a run in `context` may have: of a GPU those free now, of the host
/// `host_memory_bytes`.
double memory_bytes(const HostContext& context);
#ifdef HEDDLE_HAS_CUDA
double memory_bytes(const CudaContext& context);
#endif

/// The device that a run works on, and the host beside it that loads and writes.
class Device {
 public:
  /// What `config.device` and `config.threads` ask for: `automatic` takes a GPU where one can be
  /// used, else the host. Throws `DeviceError` that names the key and the reason if a GPU was asked
  /// for and none can be used.
  explicit Device(const Config& config);

  bool is_host() const noexcept { return context_.index() == 0; }
  std::string_view kind() const noexcept { return is_host() ? "host" : "cuda"; }
  const std::string& name() const noexcept { return name_; }  ///< "NVIDIA H200"; empty for the host
  const std::string& note() const noexcept { return note_; }  ///< why, where that needs saying

  HostContext& host() noexcept { return *host_; }

  double memory_bytes() const;  ///< `memory_bytes` of its context

  /// body(context) with the device's context, a `HostContext` or a `CudaContext`.
  template <class Body>
  decltype(auto) with_context(Body&& body) {
    return std::visit([&](auto& context) -> decltype(auto) { return body(*context); }, context_);
  }

 private:
  std::unique_ptr<HostContext> host_;
  AnyContext context_;
  std::string name_;
  std::string note_;
};

/// Throws `ConfigError` that names the key and what there is if `config.spmm.kernel` is none that
/// the device has.
void check_kernel(Device& device, const Config& config);

}  // namespace heddle::apps
