#pragma once

#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle {

/// Brings the halo of blocks to this process. Between `begin` and `end`, messages travel and other
/// work can be done. All processes of the context call both, in the same order.
template <Scalar T, class Ctx>
class HaloExchange {
 public:
  using Space = typename Ctx::Space;

  /// `lists` must outlive the exchange.
  HaloExchange(Ctx& context, const HaloLists& lists);

  /// Allocates what exchanges of up to `width` columns need.
  void prepare(Ctx& context, Index width);

  /// Sends the rows of X that other processes need, and asks for those of the halo. X may change
  /// when the call returns (on a GPU: by work that is queued after it). Allocates for the widest
  /// block so far.
  void begin(Ctx& context, ConstBlockView<T, Space> X);

  /// Waits for the halo (on a GPU: work that is queued after it does), and returns it as a block of
  /// X's width. It is valid until the next `begin`.
  ConstBlockView<T, Space> end(Ctx& context);

 private:
  const HaloLists* lists_;
  Index halo_rows_;
  Index width_ = 0;                        // of the block under way
  Buffer<std::int32_t, Space> send_rows_;  // those of the lists
  Buffer<T, Space> sent_;
  Buffer<T, Space> halo_;
  std::vector<Processes::Message> receive_;
  std::vector<Processes::Message> send_;
};

}  // namespace heddle
