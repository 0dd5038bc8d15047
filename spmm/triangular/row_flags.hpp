#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>

namespace heddle::detail::cuda {

/// How the rows of one launch tell each other that they are solved. A row is solved when its flag
/// is `epoch`; flags that earlier launches set differ, so nothing is reset between launches. Blocks
/// take their place in the order of rows with a ticket, so that those a block may wait for are on
/// the device already, in whatever order the hardware starts blocks.
struct RowSignals {
  std::uint32_t* flags;    ///< one a row
  std::uint32_t* tickets;  ///< counts the blocks of all launches, modulo 2³²
  std::uint32_t first_ticket;
  std::uint32_t epoch;
};

/// Owns the flags and tickets of the launches for one matrix, one launch at a time.
class RowFlags {
 public:
  /// Throws `OutOfMemory`.
  RowFlags(CudaContext& context, Index rows);

  /// For the next launch, which is to have `blocks` blocks, each of which takes one ticket.
  RowSignals next(CudaContext& context, unsigned blocks);

 private:
  void clear(CudaContext& context);

  Buffer<std::uint32_t, DeviceSpace> memory_;  // the flags, then the tickets
  std::uint32_t epoch_ = 0;
  std::uint32_t tickets_taken_ = 0;
};

}  // namespace heddle::detail::cuda
