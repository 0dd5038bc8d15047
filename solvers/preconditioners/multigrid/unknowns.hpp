#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/row_range.hpp>

namespace heddle::detail {

/// The unknowns per node of a discretisation, from the pattern of A: the largest b = 2 … 6 for
/// which A consists of full b×b blocks in at least 19 of 20 rows. In such a row's node, all b rows
/// have equal columns, and these are whole nodes. 1 if there is no such b. Of a distributed A, in
/// host memory: in the square parts of all processes, which call it together. 1 if the rows of a
/// process end within a node.
Index unknowns_per_node(HostContext& context, const DistributedCsrView<double, HostSpace>& A);
Index unknowns_per_node(CudaContext& context, CsrView<double, DeviceSpace> A);

/// The same of the whole of A, of which processes hold rows in order: `rows` on this process, which
/// are `A_rows` with columns in global numbers. Ranges of rows begin at multiples of
/// `kWholeNodes`, so that a node is on one process. All of them call it together.
Index unknowns_per_node(HostContext& context, CsrView<double, HostSpace> A_rows,
                        const RowRange& rows);

inline constexpr Index kMostUnknowns = 6;

/// A multiple of all numbers of unknowns per node.
inline constexpr Index kWholeNodes = 60;

/// The nodes of b unknowns that `unknowns_per_node` looks at: `count` nodes, `step` apart.
struct NodeSample {
  Index step = 1;
  Index count = 0;  ///< 0: A cannot have b unknowns per node

  /// Whether `full` nodes of full blocks are enough.
  constexpr bool has_enough(Index full) const { return count > 0 && 20 * full >= 19 * count; }
};

constexpr NodeSample node_sample(Index rows, Index b) {
  constexpr Index kSample = 4096;
  const Index nodes = rows / b;
  if (rows % b != 0 || nodes < 2 * b) return {};
  const Index step = nodes / kSample > 1 ? nodes / kSample : 1;
  return {step, (nodes + step - 1) / step};
}

}  // namespace heddle::detail
