#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>

namespace heddle::detail {

/// inverse_i = 1/|d_i|, with `root` its square root, for n numbers where d lies. Returns false if a
/// d_i is zero, subnormal or not finite. `inverse` is then undefined.
template <Scalar T>
bool invert_normal(CudaContext& context, const Buffer<T, DeviceSpace>& d, bool root,
                   Buffer<T, DeviceSpace>& inverse);
template <Scalar T>
bool invert_normal(HostContext& context, const Buffer<T, HostSpace>& d, bool root,
                   Buffer<T, HostSpace>& inverse);

}  // namespace heddle::detail
