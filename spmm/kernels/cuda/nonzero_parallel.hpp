#pragma once

#include <heddle/spmm/kernels/cuda/carries.hpp>

namespace heddle::cuda {

/// Values of type T that `launch_nonzero_parallel` needs for carries, uninitialised.
Index nonzero_parallel_carries(const MergePath& path, Index N);

/// Balanced nonzeros with parallel reduction ("EB_PR"): a warp walks a fixed number of nonzeros, 32
/// at a time, one a lane; each lane loads up to four columns of its row of B at once, and a
/// segmented scan by shuffles adds the lanes of equal rows. What a warp holds of its unfinished
/// last row goes through `carries` and a fix-up pass.
///
/// Good for one to four columns and rows of very different lengths. Reads A once every four
/// columns. Deterministic. Source: Huang et al., arXiv:2106.16064.
template <class T>
void launch_nonzero_parallel(const SpmmProduct<T>& product, const MergePath& path, T* carries,
                             cudaStream_t stream);

}  // namespace heddle::cuda
