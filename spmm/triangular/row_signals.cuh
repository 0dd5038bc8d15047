#pragma once

#include <cuda/atomic>
#include <heddle/spmm/triangular/row_flags.hpp>

/// Shared by the kernels in which rows wait for earlier rows of the same launch.
namespace heddle::detail::cuda {

template <class Integer>
using SharedNumber = ::cuda::atomic_ref<Integer, ::cuda::thread_scope_device>;

/// The next ticket, for the whole block. All threads of a block call it together, once per launch.
__device__ inline std::uint32_t draw_ticket(std::uint32_t* tickets) {
  __shared__ std::uint32_t ticket;
  if (threadIdx.x == 0) {
    ticket = SharedNumber<std::uint32_t>(*tickets).fetch_add(1, ::cuda::memory_order_relaxed);
  }
  __syncthreads();
  return ticket;
}

/// The number of this block in the order in which the blocks of the launch start.
__device__ inline Index place_of_block(const RowSignals& signals) {
  return draw_ticket(signals.tickets) - signals.first_ticket;
}

/// Whether the row is solved. If so, this thread may read what was stored before `signal_row`.
__device__ inline bool is_signalled(const RowSignals& signals, Index row) {
  return SharedNumber<std::uint32_t>(signals.flags[row]).load(::cuda::memory_order_acquire) ==
         signals.epoch;
}

/// Tells the other threads that the row is solved, and shows them what this thread stored before.
__device__ inline void signal_row(const RowSignals& signals, Index row) {
  SharedNumber<std::uint32_t>(signals.flags[row])
      .store(signals.epoch, ::cuda::memory_order_release);
}

}  // namespace heddle::detail::cuda
