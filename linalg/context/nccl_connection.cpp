#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/gpu_connection.hpp>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

void check_nccl(ncclResult_t status, const char* call) {
  if (status == ncclSuccess) return;
  throw DeviceError(fmt::format("NCCL failed in {}: {}", call, ncclGetErrorString(status)));
}

}  // namespace

struct GpuConnection::State {
  ncclComm_t all = nullptr;
  std::timed_mutex busy;  // while a call of NCCL queues work
  bool aborted = false;

  /// Throws if the connection was aborted.
  std::unique_lock<std::timed_mutex> lock() {
    std::unique_lock queueing(busy);
    if (aborted) throw DeviceError("the connection between the GPUs has ended");
    return queueing;
  }
};

std::string no_connection_reason() { return {}; }

GpuConnection::GpuConnection(Processes& processes, int device)
    : device_(device), state_(std::make_unique<State>()) {
  // Reductions in the switch may give other bits in every call, and their setup fails on some
  // machines. Nothing here would gain from them.
  [[maybe_unused]] static const int once = setenv("NCCL_NVLS_ENABLE", "0", 0);
  ncclUniqueId id{};
  if (processes.leads()) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  processes.broadcast(&id, sizeof id);
  check_nccl(ncclCommInitRank(&state_->all, processes.size(), id, processes.rank()),
             "ncclCommInitRank");
  connect_neighbours(processes);
}

/// NCCL sets a path up when it is first used, which takes tenths of a second. Most matrices need
/// rows of the processes next to this one.
void GpuConnection::connect_neighbours(const Processes& processes) {
  const auto size = static_cast<std::size_t>(processes.size());
  char* memory = nullptr;
  check(cudaMalloc(&memory, size + 4));
  std::vector<Processes::Message> receive, send;
  for (const int step : {-1, 1}) {
    const int other = processes.rank() + step;
    if (other < 0 || other >= processes.size()) continue;
    char* const place = memory + size + (step + 1);
    receive.push_back({other, place, 1});
    send.push_back({other, place + 1, 1});
  }
  gather_all(memory + processes.rank(), memory, 1, nullptr);
  exchange(receive, send, nullptr);
  check(cudaDeviceSynchronize());
  check(cudaFree(memory));
}

GpuConnection::~GpuConnection() {
  if (!state_->aborted) ncclCommDestroy(state_->all);
}

/// Work is queued within microseconds. A call that takes longer connects to a GPU for the first
/// time, perhaps to that of a thread that has failed. NCCL lets such a call return when it is
/// aborted by another thread.
void GpuConnection::abort() noexcept {
  constexpr auto kPatience = std::chrono::seconds(2);
  const std::unique_lock<std::timed_mutex> queueing(state_->busy, kPatience);
  if (!std::exchange(state_->aborted, true)) ncclCommAbort(state_->all);
}

void GpuConnection::gather_all(const void* here, void* all, std::size_t bytes,
                               CUstream_st* stream) {
  const auto queueing = state_->lock();
  check_nccl(ncclAllGather(here, all, bytes, ncclChar, state_->all, stream), "ncclAllGather");
}

void GpuConnection::exchange(std::span<const Processes::Message> receive,
                             std::span<const Processes::Message> send, CUstream_st* stream) {
  if (receive.empty() && send.empty()) return;
  const auto queueing = state_->lock();
  check_nccl(ncclGroupStart(), "ncclGroupStart");
  for (const Processes::Message& message : receive) {
    check_nccl(
        ncclRecv(message.data, message.bytes, ncclChar, message.process, state_->all, stream),
        "ncclRecv");
  }
  for (const Processes::Message& message : send) {
    check_nccl(
        ncclSend(message.data, message.bytes, ncclChar, message.process, state_->all, stream),
        "ncclSend");
  }
  check_nccl(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace heddle::detail
