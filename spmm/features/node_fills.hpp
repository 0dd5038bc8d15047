#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/node_size.hpp>

namespace heddle::detail::cuda {

/// The fills of A's aligned b×b blocks, from at most a few thousand evenly spaced node rows for
/// each b. 0 if these have no entries. Waits for the device.
template <class T>
NodeFills device_node_fills(CudaContext& context, const CsrView<T, DeviceSpace>& A);

}  // namespace heddle::detail::cuda
