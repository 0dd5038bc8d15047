#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>

namespace heddle::detail::cuda {

/// How the rows of one launch signal that they are solved. A row is solved if its flag equals
/// `epoch`. Earlier launches used other epochs, so nothing is reset between launches. Each block
/// draws a ticket that determines its rows, so that the blocks it may wait for have already
/// started, whatever the order in which the hardware starts blocks.
struct RowSignals {
  std::uint32_t* flags;    ///< one per row
  std::uint32_t* tickets;  ///< counts the blocks of all launches, modulo 2³²
  std::uint32_t first_ticket;
  std::uint32_t epoch;
};

/// Owns the flags and tickets of the launches for one matrix, one launch at a time.
class RowFlags {
 public:
  /// Throws `OutOfMemory`.
  RowFlags(CudaContext& context, Index rows);

  /// The signals for the next launch, which must have `blocks` blocks that each draw one ticket.
  RowSignals next(CudaContext& context, unsigned blocks);

 private:
  void clear(CudaContext& context);

  Buffer<std::uint32_t, DeviceSpace> memory_;  // the flags, then the tickets
  std::uint32_t epoch_ = 0;
  std::uint32_t tickets_taken_ = 0;
};

}  // namespace heddle::detail::cuda
