#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/row_tiles.hpp>

namespace heddle::detail::cuda {

/// Sets `reuse_128`, `reuse_2048`, `reuse_32768` and `column_run`. The first is from fewer tiles
/// than on the host, the others are the same numbers. Needs up to 64 MiB meanwhile. Waits for the
/// device.
template <class T>
void set_tile_reuse(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                    MatrixFeatures& features);

}  // namespace heddle::detail::cuda
