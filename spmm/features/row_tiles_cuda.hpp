#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/row_tiles.hpp>

namespace heddle::detail::cuda {

/// *total += what is counted in such tiles of A. Queued on the context's stream. `total` is in
/// device memory. Needs up to 64 MiB meanwhile.
template <class T>
void count_tiles(CudaContext& context, const CsrView<T, DeviceSpace>& A, const RowTiles& tiles,
                 TileCount* total);

}  // namespace heddle::detail::cuda
