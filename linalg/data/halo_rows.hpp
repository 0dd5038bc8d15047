#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/linalg/data/views.hpp>

/// The rows of a block that other processes need, on a GPU.
namespace heddle {

/// packed(k, j) = X(rows[k], j), with all rows of `packed` one after another.
template <Scalar T>
void pack_rows(CudaContext& context, const Buffer<std::int32_t, DeviceSpace>& rows,
               ConstBlockView<T, DeviceSpace> X, T* packed);

}  // namespace heddle
