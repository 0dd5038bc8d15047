#pragma once

#include <heddle/linalg/context/processes.hpp>
#include <memory>
#include <span>
#include <string>

struct CUstream_st;

namespace heddle::detail {

/// Why this build cannot connect the GPUs of several processes. Empty if it can.
std::string no_connection_reason();

/// The connection between the GPUs of several processes, over NCCL. All processes make the same
/// calls in the same order. They queue work on a stream, and memory is that of the GPU.
class GpuConnection {
 public:
  /// Connects GPU `device`, which is the current one of this process, to those of the other
  /// processes. Throws `DeviceError`.
  GpuConnection(Processes& processes, int device);

  /// Waits for the other processes, unless the connection was aborted.
  ~GpuConnection();
  GpuConnection(const GpuConnection&) = delete;
  GpuConnection& operator=(const GpuConnection&) = delete;

  int device() const noexcept { return device_; }

  /// all[k·bytes …] ← the `bytes` at `here` of process k, for all k.
  void gather_all(const void* here, void* all, std::size_t bytes, CUstream_st* stream);

  /// Ends what waits for other GPUs, with memory in any state. Calls from then on throw
  /// `DeviceError`. May be called from any thread.
  void abort() noexcept;

  /// Sends and receives messages, which are as in `Processes::begin_exchange`.
  void exchange(std::span<const Processes::Message> receive,
                std::span<const Processes::Message> send, CUstream_st* stream);

 private:
  struct State;

  void connect_neighbours(const Processes& processes);

  int device_;
  std::unique_ptr<State> state_;
};

}  // namespace heddle::detail
