#pragma once

#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/linalg/data/views.hpp>
#include <vector>

namespace heddle {

/// Brings the halo of blocks to this process. Between `begin` and `end`, messages travel and other
/// work can be done. All processes of the context call both, in the same order.
template <Scalar T>
class HaloExchange {
 public:
  /// `lists` must outlive the exchange.
  explicit HaloExchange(const HaloLists& lists) : lists_(&lists), halo_rows_(lists.halo()) {}

  /// Sends the rows of X that other processes need, and asks for those of the halo. X may change
  /// when the call returns. Allocates for the widest block so far.
  void begin(HostContext& context, ConstBlockView<T, HostSpace> X);

  /// Waits for the halo, and returns it as a block of X's width. It is valid until the next
  /// `begin`.
  ConstBlockView<T, HostSpace> end(HostContext& context);

 private:
  const HaloLists* lists_;
  Index halo_rows_;
  Index width_ = 0;  // of the block under way
  Buffer<T, HostSpace> sent_;
  Buffer<T, HostSpace> halo_;
  std::vector<Processes::Message> receive_;
  std::vector<Processes::Message> send_;
};

}  // namespace heddle
