#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <initializer_list>

/// The last step of operations that sum over the rows of distributed blocks.
namespace heddle {

/// Replaces the entries of all `parts`, which hold the sums over the rows of this process, by the
/// sums over all rows. They are added in the order of the processes, and travel together. A no-op
/// where the context has one process. Uses the context's scratch memory.
void sum_over_processes(HostContext& context,
                        std::initializer_list<SmallView<double, HostSpace>> parts);

/// The same on a GPU, queued like all its work. A part may lie in the scratch memory if it is the
/// only one and its entries lie one after another.
void sum_over_processes(CudaContext& context,
                        std::initializer_list<SmallView<double, DeviceSpace>> parts);

/// The number of rows on all processes of the context, of blocks with `rows` rows on this one.
Index total_rows(HostContext& context, Index rows);
Index total_rows(CudaContext& context, Index rows);

}  // namespace heddle
