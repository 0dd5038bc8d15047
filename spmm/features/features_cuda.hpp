#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/spmm/features/features.hpp>

namespace heddle::detail::cuda {

/// The features of A that kernel choice uses: size, row lengths, `values_are_floats`, `column_run`,
/// reuse without `reuse_32`, and the node blocks (from at most a few thousand panels, tiles, boxes
/// and node rows). The other features stay 0. Reads the row offsets and values once. Waits for the
/// device.
template <class T>
MatrixFeatures device_features(CudaContext& context, const CsrView<T, DeviceSpace>& A);

}  // namespace heddle::detail::cuda
