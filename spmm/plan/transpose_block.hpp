#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// target = sourceᵀ + β target for row-major blocks. With β = 0, target is not read. Queued on a
/// GPU, where it is meant for blocks of which one side is short. The two must not share entries.
template <Scalar T>
void transpose_block(HostContext& context, ConstBlockView<T, HostSpace> source, T beta,
                     BlockView<T, HostSpace> target);
template <Scalar T>
void transpose_block(CudaContext& context, ConstBlockView<T, DeviceSpace> source, T beta,
                     BlockView<T, DeviceSpace> target);

}  // namespace heddle::detail
