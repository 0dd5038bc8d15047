#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/features.hpp>

namespace heddle::detail::cuda {

/// The features of A that kernel choice uses: size, row lengths, `reuse_8`, `reuse_grid` and the
/// node blocks (from at most a few thousand panels, boxes and node rows). The other features stay
/// 0. Reads the row offsets once. Waits for the device.
template <class T>
MatrixFeatures device_features(CudaContext& context, const CsrView<T, DeviceSpace>& A);

}  // namespace heddle::detail::cuda
