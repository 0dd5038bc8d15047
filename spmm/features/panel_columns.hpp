#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail::cuda {

/// Rows of A in a panel.
inline constexpr int kPanelRows = 8;

/// counts[s] = ⌈distinct columns of panel s·stride / columns_per_count⌉ for s = 0, 1, … as long as
/// panel s·stride exists. Queued on the context's stream. `counts` is in device memory.
template <class T>
void launch_count_panel_columns(CudaContext& context, const CsrView<T, DeviceSpace>& A,
                                Index stride, Index columns_per_count, Index* counts);

}  // namespace heddle::detail::cuda
