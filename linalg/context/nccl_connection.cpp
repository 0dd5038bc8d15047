#include <fmt/format.h>
#include <nccl.h>

#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/gpu_connection.hpp>

namespace heddle::detail {
namespace {

void check(ncclResult_t status, const char* call) {
  if (status == ncclSuccess) return;
  throw DeviceError(fmt::format("NCCL failed in {}: {}", call, ncclGetErrorString(status)));
}

}  // namespace

struct GpuConnection::State {
  ncclComm_t all = nullptr;
};

std::string no_connection_reason() { return {}; }

GpuConnection::GpuConnection(Processes& processes, int device)
    : device_(device), state_(std::make_unique<State>()) {
  // Reductions in the switch may give other bits in every call, and their setup fails on some
  // machines. Nothing here would gain from them.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  ncclUniqueId id{};
  if (processes.leads()) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  processes.broadcast(&id, sizeof id);
  check(ncclCommInitRank(&state_->all, processes.size(), id, processes.rank()), "ncclCommInitRank");
}

GpuConnection::~GpuConnection() { ncclCommDestroy(state_->all); }

void GpuConnection::gather_all(const void* here, void* all, std::size_t bytes,
                               CUstream_st* stream) {
  check(ncclAllGather(here, all, bytes, ncclChar, state_->all, stream), "ncclAllGather");
}

void GpuConnection::exchange(std::span<const Processes::Message> receive,
                             std::span<const Processes::Message> send, CUstream_st* stream) {
  if (receive.empty() && send.empty()) return;
  check(ncclGroupStart(), "ncclGroupStart");
  for (const Processes::Message& message : receive) {
    check(ncclRecv(message.data, message.bytes, ncclChar, message.process, state_->all, stream),
          "ncclRecv");
  }
  for (const Processes::Message& message : send) {
    check(ncclSend(message.data, message.bytes, ncclChar, message.process, state_->all, stream),
          "ncclSend");
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace heddle::detail
