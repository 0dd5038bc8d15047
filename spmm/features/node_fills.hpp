#pragma once

#include <array>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/node_size.hpp>
#include <tuple>

namespace heddle::detail::cuda {

/// Entries of node rows, and distinct node columns of each of them.
struct NodeRowCount {
  Index entries = 0;
  Index blocks = 0;
};

/// For each size of a node.
using NodeRowCounts = std::array<NodeRowCount, std::tuple_size_v<NodeFills>>;

/// *sums += what is counted in at most a few thousand evenly spaced node rows of A for each size.
/// Queued on the context's stream. `sums` is in device memory.
template <class T>
void count_node_rows(CudaContext& context, const CsrView<T, DeviceSpace>& A, NodeRowCounts* sums);

/// The fills of the aligned b×b blocks of these node rows, 0 if they have no entries.
NodeFills node_fills(const NodeRowCounts& counts);

}  // namespace heddle::detail::cuda
