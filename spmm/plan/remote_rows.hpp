#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {

/// C(rows[k], j) += sums(k, j) and, with η ≠ 0, Y(rows[k], j) += η sums(k, j), on a GPU.
template <Scalar T>
void add_to_rows(CudaContext& context, const Buffer<std::int32_t, DeviceSpace>& rows,
                 ConstBlockView<T, DeviceSpace> sums, BlockView<T, DeviceSpace> C, T eta,
                 BlockView<T, DeviceSpace> Y);

}  // namespace heddle::detail
