#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/gpu_connection.hpp>

namespace heddle::detail {

struct GpuConnection::State {};

std::string no_connection_reason() {
  return "this build connects no GPUs, because it has no NCCL: build with HEDDLE_NCCL=ON";
}

GpuConnection::GpuConnection(Processes&, int device) : device_(device) {
  throw DeviceError(no_connection_reason());
}

GpuConnection::~GpuConnection() = default;

void GpuConnection::abort() noexcept {}

void GpuConnection::gather_all(const void*, void*, std::size_t, CUstream_st*) {}

void GpuConnection::exchange(std::span<const Processes::Message>,
                             std::span<const Processes::Message>, CUstream_st*) {}

}  // namespace heddle::detail
